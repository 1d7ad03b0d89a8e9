#pragma once

#include <rocksdb/c.h>

#include <string>
#include <utility>

namespace weir {

// Why a call was not carried out. The code becomes `code` of the JavaScript error, and decides which WeirError that becomes.
struct Refusal {
  const char* code;
  std::string message;

  static Refusal argument(std::string message) { return {"ARGUMENT", std::move(message)}; }
  static Refusal closed(const char* what) { return {"CLOSED", std::string(what) + " is closed"}; }
};

// The `char** errptr` of a call to RocksDB: the text is taken over, and thrown by `check`.
class Status {
 public:
  Status() = default;
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() { rocksdb_free(text_); }

  char** out() { return &text_; }
  bool failed() const { return text_ != nullptr; }
  const char* text() const { return text_; }
  void check() const {
    if (text_ != nullptr) throw Refusal{"ROCKSDB", text_};
  }

 private:
  char* text_ = nullptr;
};

}  // namespace weir
