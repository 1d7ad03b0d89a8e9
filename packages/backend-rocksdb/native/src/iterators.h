#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "owned.h"

namespace weir {

class Database;
struct Buffer;

class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<Database> database);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // By the database, which forgets it itself.
  void close();
  void release();
  // Throws Refusal once it is released, and if it is of another database.
  const rocksdb_snapshot_t* get(const Database& database) const;

 private:
  std::shared_ptr<Database> database_;
  const rocksdb_snapshot_t* snapshot_;
};

// An absent bound is a null pointer.
struct Range {
  std::unique_ptr<std::string> lower;
  std::unique_ptr<std::string> upper;
};

class Iterator {
 public:
  Iterator(std::shared_ptr<Database> database, rocksdb_column_family_handle_t* family, Range range, const Snapshot* snapshot);
  ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // By the database, which forgets it itself.
  void close();
  void release();
  // As RocksIterator.next. Throws Refusal once it is closed.
  int64_t fill(Buffer out);

 private:
  std::shared_ptr<Database> database_;
  // RocksDB keeps pointers to the bounds, not copies.
  Range range_;
  OwnedReadOptions options_;
  OwnedIterator iterator_;
};

}  // namespace weir
