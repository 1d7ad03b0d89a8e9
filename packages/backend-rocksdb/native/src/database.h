#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "expiry.h"
#include "options.h"
#include "owned.h"

namespace weir {

class Iterator;
class Snapshot;

// An open database. Belongs to the thread of JavaScript that opened it; other threads touch it between `begin` and `end` only.
class Database {
 public:
  explicit Database(const OpenRequest& request);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Iterators and snapshots go first, then work that has begun is waited for. Again: nothing.
  void close();
  void requireOpen() const;

  rocksdb_t* db() const { return db_; }
  // Throws Refusal if there is no such family.
  rocksdb_column_family_handle_t* family(uint64_t index) const;
  const std::vector<rocksdb_column_family_handle_t*>& families() const { return families_; }
  const rocksdb_readoptions_t* readOptions() const { return read_.get(); }
  const rocksdb_writeoptions_t* writeOptions() const { return write_.get(); }
  rocksdb_options_t* options() const { return options_.get(); }
  void setNow(double ms) { clock_->store(ms, std::memory_order_relaxed); }

  // Of another thread: false once the database is being closed. A rewrite is broken off by `close`, anything else is finished.
  enum class Task { kFinished, kBrokenOff };
  bool begin(Task task);
  // False if it was broken off.
  bool end(Task task);

  std::unordered_set<Iterator*> iterators;
  std::unordered_set<Snapshot*> snapshots;

 private:
  int& runningOf(Task task) { return task == Task::kFinished ? finishing_ : breakable_; }

  ExpiryClock clock_ = stoppedClock();
  // In this order, so that each goes after what uses it.
  OwnedFilter filter_;
  OwnedCache cache_;
  OwnedOptions options_;
  OwnedOptions expiringOptions_;
  OwnedReadOptions read_;
  OwnedWriteOptions write_;
  rocksdb_t* db_ = nullptr;
  std::vector<rocksdb_column_family_handle_t*> families_;

  std::mutex mutex_;
  std::condition_variable idle_;
  bool closing_ = false;
  int finishing_ = 0;
  int breakable_ = 0;
};

}  // namespace weir
