#include "iterators.h"

#include "call.h"
#include "database.h"
#include "methods.h"
#include "rows.h"

namespace weir {

Snapshot::Snapshot(std::shared_ptr<Database> database)
    : database_(std::move(database)), snapshot_(rocksdb_create_snapshot(database_->db())) {
  database_->snapshots.insert(this);
}

Snapshot::~Snapshot() { release(); }

void Snapshot::close() {
  rocksdb_release_snapshot(database_->db(), snapshot_);
  snapshot_ = nullptr;
}

void Snapshot::release() {
  if (snapshot_ == nullptr) return;
  database_->snapshots.erase(this);
  close();
}

const rocksdb_snapshot_t* Snapshot::get(const Database& database) const {
  if (snapshot_ == nullptr) throw Refusal::closed("the snapshot");
  if (&database != database_.get()) throw Refusal::argument("the snapshot is of another database");
  return snapshot_;
}

Iterator::Iterator(std::shared_ptr<Database> database, rocksdb_column_family_handle_t* family, Range range, const Snapshot* snapshot)
    : database_(std::move(database)), range_(std::move(range)), options_(rocksdb_readoptions_create()) {
  if (range_.lower) rocksdb_readoptions_set_iterate_lower_bound(options_.get(), range_.lower->data(), range_.lower->size());
  if (range_.upper) rocksdb_readoptions_set_iterate_upper_bound(options_.get(), range_.upper->data(), range_.upper->size());
  if (snapshot != nullptr) {
    rocksdb_readoptions_set_snapshot(options_.get(), snapshot->get(*database_));
    // Whoever reads a snapshot reads a lot, once: what is read often keeps its place in the cache.
    rocksdb_readoptions_set_fill_cache(options_.get(), 0);
  }
  iterator_.reset(rocksdb_create_iterator_cf(database_->db(), options_.get(), family));
  rocksdb_iter_seek_to_first(iterator_.get());
  database_->iterators.insert(this);
}

Iterator::~Iterator() { release(); }

void Iterator::close() { iterator_.reset(); }

void Iterator::release() {
  if (!iterator_) return;
  database_->iterators.erase(this);
  close();
}

int64_t Iterator::fill(Buffer out) {
  if (!iterator_) throw Refusal::closed("the iterator");
  rocksdb_iterator_t* iterator = iterator_.get();
  size_t filled = 0;
  for (; rocksdb_iter_valid(iterator); rocksdb_iter_next(iterator)) {
    size_t keyLength = 0;
    size_t valueLength = 0;
    const char* key = rocksdb_iter_key(iterator, &keyLength);
    const char* value = rocksdb_iter_value(iterator, &valueLength);
    const size_t needed = 2 * kLengthBytes + keyLength + valueLength;
    if (needed > out.length - filled) return filled > 0 ? static_cast<int64_t>(filled) : -static_cast<int64_t>(needed);
    char* row = out.data + filled;
    writeLength(row, keyLength);
    writeLength(row + kLengthBytes, valueLength);
    copy(row + 2 * kLengthBytes, key, keyLength);
    copy(row + 2 * kLengthBytes + keyLength, value, valueLength);
    filled += needed;
  }
  Status status;
  rocksdb_iter_get_error(iterator, status.out());
  status.check();
  return static_cast<int64_t>(filled);
}

napi_value takeSnapshot(const Call& call) {
  call.database(0);
  return call.give(std::make_unique<Snapshot>(call.sharedDatabase(0)));
}

napi_value releaseSnapshot(const Call& call) {
  call.snapshot(0).release();
  return call.give();
}

napi_value iterate(const Call& call) {
  const Database& database = call.database(0);
  auto* family = database.family(call.whole(1, "family", UINT32_MAX));
  Range range;
  if (!call.isAbsent(2)) range.lower = std::make_unique<std::string>(call.bytes(2, "lower"));
  if (!call.isAbsent(3)) range.upper = std::make_unique<std::string>(call.bytes(3, "upper"));
  const Snapshot* snapshot = call.isAbsent(4) ? nullptr : &call.snapshot(4);
  return call.give(std::make_unique<Iterator>(call.sharedDatabase(0), family, std::move(range), snapshot));
}

napi_value next(const Call& call) { return call.give(call.iterator(0).fill(call.buffer(1, "out"))); }

napi_value closeIterator(const Call& call) {
  call.iterator(0).release();
  return call.give();
}

}  // namespace weir
