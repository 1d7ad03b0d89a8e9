#include "database.h"

#include <algorithm>

#include "call.h"
#include "iterators.h"
#include "methods.h"
#include "refusal.h"

namespace weir {

Database::Database(const OpenRequest& request)
    : filter_(expiryFilter(clock_)),
      cache_(rocksdb_cache_create_lru(request.blockCacheBytes)),
      options_(optionsOf(request, cache_.get(), nullptr)),
      expiringOptions_(optionsOf(request, cache_.get(), filter_.get())),
      read_(rocksdb_readoptions_create()),
      write_(rocksdb_writeoptions_create()) {
  rocksdb_writeoptions_disable_WAL(write_.get(), 1);

  const size_t count = request.families.size();
  std::vector<const char*> names;
  std::vector<const rocksdb_options_t*> options;
  for (size_t i = 0; i < count; i++) {
    names.push_back(request.families[i].c_str());
    options.push_back(request.expires[i] ? expiringOptions_.get() : options_.get());
  }
  families_.resize(count, nullptr);
  Status status;
  const char* directory = request.directory.c_str();
  const int n = static_cast<int>(count);
  db_ = request.mode == Mode::kRead
            ? rocksdb_open_for_read_only_column_families(options_.get(), directory, n, names.data(), options.data(), families_.data(), 0,
                                                         status.out())
            : rocksdb_open_column_families(options_.get(), directory, n, names.data(), options.data(), families_.data(), status.out());
  status.check();
}

Database::~Database() { close(); }

void Database::close() {
  if (db_ == nullptr) return;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    closing_ = true;
    idle_.wait(lock, [this] { return finishing_ == 0; });
  }
  for (Iterator* iterator : iterators) iterator->close();
  for (Snapshot* snapshot : snapshots) snapshot->close();
  iterators.clear();
  snapshots.clear();
  rocksdb_cancel_all_background_work(db_, 1);
  {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return breakable_ == 0; });
  }
  for (auto* family : families_) rocksdb_column_family_handle_destroy(family);
  families_.clear();
  rocksdb_close(db_);
  db_ = nullptr;
}

void Database::requireOpen() const {
  if (db_ == nullptr) throw Refusal::closed("the database");
}

rocksdb_column_family_handle_t* Database::family(uint64_t index) const {
  if (index >= families_.size()) {
    throw Refusal::argument("there is no family " + std::to_string(index) + ", only " + std::to_string(families_.size()));
  }
  return families_[index];
}

bool Database::begin(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closing_) return false;
  runningOf(task)++;
  return true;
}

bool Database::end(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  runningOf(task)--;
  idle_.notify_all();
  return task == Task::kFinished || !closing_;
}

napi_value openDatabase(const Call& call) {
  constexpr size_t kMostFamilies = 256;
  constexpr uint64_t kMostBytes = uint64_t{1} << 40;
  OpenRequest request;
  request.directory = call.text(0, "directory");
  request.mode = static_cast<Mode>(call.whole(1, "mode", static_cast<uint64_t>(Mode::kRead)));
  request.families = call.texts(2, "columnFamilies");
  if (request.families.empty() || request.families.front() != "default" || request.families.size() > kMostFamilies) {
    throw Refusal::argument("'columnFamilies' must begin with 'default' and have at most 256 names");
  }
  auto names = request.families;
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) throw Refusal::argument("'columnFamilies' has a name twice");
  request.expires.resize(request.families.size(), false);
  for (const uint32_t family : call.wholes(3, "expiringFamilies")) {
    if (family >= request.families.size()) throw Refusal::argument("'expiringFamilies' names no family");
    request.expires[family] = true;
  }
  request.blockCacheBytes = call.whole(4, "blockCacheBytes", kMostBytes);
  request.writeBufferBytes = call.whole(5, "writeBufferBytes", kMostBytes);
  const std::string compression = call.text(6, "compression");
  if (compression != "snappy" && compression != "none") throw Refusal::argument("'compression' is not snappy or none");
  request.snappy = compression == "snappy";
  request.bloomBitsPerKey = static_cast<double>(call.whole(7, "bloomBitsPerKey", 100));
  request.statistics = call.boolean(8);
  return call.give(std::make_shared<Database>(request));
}

napi_value closeDatabase(const Call& call) {
  call.sharedDatabase(0)->close();
  return call.give();
}

napi_value setNow(const Call& call) {
  call.database(0).setNow(call.number(1));
  return call.give();
}

}  // namespace weir
