#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "refusal.h"

namespace weir {

class Database;
class Iterator;
class Snapshot;

struct Buffer {
  char* data;
  size_t length;
};

// One call from JavaScript: its arguments, each checked for its type and bounds when it is asked for. Throws Refusal.
class Call {
 public:
  Call(napi_env env, napi_callback_info info);

  napi_env env() const { return env_; }

  Database& database(size_t at) const;
  std::shared_ptr<Database> sharedDatabase(size_t at) const;
  Iterator& iterator(size_t at) const;
  Snapshot& snapshot(size_t at) const;

  bool isAbsent(size_t at) const;
  bool boolean(size_t at) const;
  double number(size_t at) const;
  // A whole number from 0 to `most`.
  uint64_t whole(size_t at, const char* name, uint64_t most) const;
  std::string text(size_t at, const char* name) const;
  std::vector<std::string> texts(size_t at, const char* name) const;
  std::vector<uint32_t> wholes(size_t at, const char* name) const;
  Buffer buffer(size_t at, const char* name) const;
  // The first bytes of the buffer at `at`; how many is the argument after it, and never beyond the buffer.
  std::string_view prefix(size_t at, const char* name) const;
  std::string_view bytes(size_t at, const char* name) const;

  napi_value give() const { return nullptr; }
  napi_value give(int64_t value) const;
  napi_value give(std::string_view text) const;
  // Hands an object over to the garbage collector.
  napi_value give(std::shared_ptr<Database> database) const;
  napi_value give(std::unique_ptr<Iterator> iterator) const;
  napi_value give(std::unique_ptr<Snapshot> snapshot) const;

 private:
  static constexpr size_t kMostArguments = 10;

  napi_value at(size_t index) const;
  std::string textOf(napi_value value, const char* name) const;

  napi_env env_;
  napi_value values_[kMostArguments];
  size_t count_ = kMostArguments;
};

// A status of Node-API that only fails if the engine is out of memory or going down.
void require(napi_status status);
void throwInto(napi_env env, const Refusal& refusal);

using Method = napi_value (*)(const Call& call);

// A method as JavaScript calls it: nothing that C++ throws gets past it.
template <Method method>
napi_value exposed(napi_env env, napi_callback_info info) {
  try {
    return method(Call(env, info));
  } catch (const Refusal& refusal) {
    throwInto(env, refusal);
  } catch (const std::exception& error) {
    throwInto(env, Refusal{"FAILED", error.what()});
  }
  return nullptr;
}

// What one thread keeps of the addon: which objects it gave out, so that no stranger's is taken for one.
void attach(napi_env env);

}  // namespace weir
