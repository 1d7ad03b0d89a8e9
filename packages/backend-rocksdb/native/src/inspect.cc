#include "call.h"
#include "database.h"
#include "methods.h"

namespace weir {
namespace {

void set(const Call& call, napi_value object, const char* name, napi_value value) {
  require(napi_set_named_property(call.env(), object, name, value));
}

napi_value copyOf(const Call& call, const char* data, size_t length) {
  napi_value value;
  require(napi_create_buffer_copy(call.env(), length, data, nullptr, &value));
  return value;
}

}  // namespace

napi_value liveFiles(const Call& call) {
  const OwnedFiles files(rocksdb_livefiles(call.database(0).db()));
  const int count = rocksdb_livefiles_count(files.get());
  napi_value list;
  require(napi_create_array_with_length(call.env(), static_cast<size_t>(count), &list));
  for (int i = 0; i < count; i++) {
    napi_value file;
    require(napi_create_object(call.env(), &file));
    std::string_view name = rocksdb_livefiles_name(files.get(), i);
    // RocksDB gives "/000012.sst".
    if (!name.empty() && name.front() == '/') name.remove_prefix(1);
    set(call, file, "name", call.give(name));
    set(call, file, "level", call.give(static_cast<int64_t>(rocksdb_livefiles_level(files.get(), i))));
    set(call, file, "bytes", call.give(static_cast<int64_t>(rocksdb_livefiles_size(files.get(), i))));
    set(call, file, "entries", call.give(static_cast<int64_t>(rocksdb_livefiles_entries(files.get(), i))));
    set(call, file, "deletions", call.give(static_cast<int64_t>(rocksdb_livefiles_deletions(files.get(), i))));
    size_t length = 0;
    const char* smallest = rocksdb_livefiles_smallestkey(files.get(), i, &length);
    set(call, file, "smallestKey", copyOf(call, smallest, length));
    const char* largest = rocksdb_livefiles_largestkey(files.get(), i, &length);
    set(call, file, "largestKey", copyOf(call, largest, length));
    require(napi_set_element(call.env(), list, static_cast<uint32_t>(i), file));
  }
  return list;
}

napi_value property(const Call& call) {
  const Database& database = call.database(0);
  const std::string name = call.text(1, "name");
  auto* family = database.family(call.whole(2, "family", UINT32_MAX));
  const OwnedText text(rocksdb_property_value_cf(database.db(), family, name.c_str()));
  return text ? call.give(std::string_view(text.get())) : call.give();
}

napi_value statistics(const Call& call) {
  const OwnedText text(rocksdb_options_statistics_get_string(call.database(0).options()));
  return text ? call.give(std::string_view(text.get())) : call.give();
}

}  // namespace weir
