#include <rocksdb/version.h>

#include <vector>

#include "call.h"
#include "database.h"
#include "methods.h"
#include "rows.h"

namespace weir {
namespace {

// One result per key, null where there is none.
std::vector<OwnedSlice> lookUp(const Database& database, rocksdb_column_family_handle_t* family, const std::vector<const char*>& keys,
                               const std::vector<size_t>& lengths) {
  const size_t count = keys.size();
  std::vector<OwnedSlice> found(count);
  std::vector<Status> failures(count);
#if ROCKSDB_MAJOR >= 7
  std::vector<rocksdb_pinnableslice_t*> values(count, nullptr);
  std::vector<char*> errors(count, nullptr);
  rocksdb_batched_multi_get_cf(database.db(), database.readOptions(), family, count, keys.data(), lengths.data(), values.data(),
                               errors.data(), false);
  for (size_t i = 0; i < count; i++) {
    found[i].reset(values[i]);
    *failures[i].out() = errors[i];
  }
#else
  for (size_t i = 0; i < count; i++) {
    found[i].reset(rocksdb_get_pinned_cf(database.db(), database.readOptions(), family, keys[i], lengths[i], failures[i].out()));
  }
#endif
  for (const Status& failure : failures) failure.check();
  return found;
}

}  // namespace

napi_value getInto(const Call& call) {
  const Database& database = call.database(0);
  auto* family = database.family(call.whole(1, "family", UINT32_MAX));
  const std::string_view key = call.prefix(2, "key");
  const Buffer out = call.buffer(4, "out");
  Status status;
  const OwnedSlice slice(
      rocksdb_get_pinned_cf(database.db(), database.readOptions(), family, key.data(), key.size(), status.out()));
  status.check();
  if (!slice) return call.give(int64_t{-1});
  size_t length = 0;
  const char* value = rocksdb_pinnableslice_value(slice.get(), &length);
  if (length <= out.length) copy(out.data, value, length);
  return call.give(static_cast<int64_t>(length));
}

napi_value getMany(const Call& call) {
  const Database& database = call.database(0);
  auto* family = database.family(call.whole(1, "family", UINT32_MAX));
  std::string_view rows = call.prefix(2, "keys");
  const Buffer out = call.buffer(4, "out");

  std::vector<const char*> keys;
  std::vector<size_t> lengths;
  while (!rows.empty()) {
    const size_t length = rows.size() < kLengthBytes ? 0 : readLength(rows.data());
    if (rows.size() < kLengthBytes || rows.size() - kLengthBytes < length) throw Refusal::argument("'keys' ends inside of a row");
    keys.push_back(rows.data() + kLengthBytes);
    lengths.push_back(length);
    rows.remove_prefix(kLengthBytes + length);
  }
  const std::vector<OwnedSlice> found = lookUp(database, family, keys, lengths);

  size_t needed = 0;
  for (const OwnedSlice& slice : found) {
    size_t length = 0;
    if (slice) rocksdb_pinnableslice_value(slice.get(), &length);
    needed += kLengthBytes + length;
  }
  if (needed > out.length) return call.give(-static_cast<int64_t>(needed));
  char* to = out.data;
  for (const OwnedSlice& slice : found) {
    size_t length = 0;
    const char* value = slice ? rocksdb_pinnableslice_value(slice.get(), &length) : nullptr;
    writeLength(to, slice ? length : kAbsent);
    copy(to + kLengthBytes, value, length);
    to += kLengthBytes + length;
  }
  return call.give(static_cast<int64_t>(needed));
}

}  // namespace weir
