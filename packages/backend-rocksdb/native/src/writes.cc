#include <string>

#include "batch.h"
#include "call.h"
#include "database.h"
#include "methods.h"
#include "rows.h"

namespace weir {
namespace {

enum class Operation : uint8_t { kPut = 1, kDelete = 2, kDeleteRange = 3 };

constexpr size_t kHeadBytes = 2 + 2 * kLengthBytes;

// Adds the first row to the batch and gives its length.
size_t addRow(const Database& database, rocksdb_writebatch_t* batch, std::string_view rows) {
  const auto malformed = [](const char* why) { return Refusal::argument(std::string("malformed batch: ") + why); };
  if (rows.size() < kHeadBytes) throw malformed("it ends inside of a row");
  const auto operation = static_cast<Operation>(rows[0]);
  auto* family = database.family(static_cast<uint8_t>(rows[1]));
  const size_t keyLength = readLength(rows.data() + 2);
  const size_t valueLength = readLength(rows.data() + 2 + kLengthBytes);
  // Both are below 2^32, so the sum does not overflow.
  const uint64_t rowLength = uint64_t{kHeadBytes} + keyLength + valueLength;
  if (rows.size() < rowLength) throw malformed("it ends inside of a row");
  const std::string_view key = rows.substr(kHeadBytes, keyLength);
  const std::string_view value = rows.substr(kHeadBytes + keyLength, valueLength);
  switch (operation) {
    case Operation::kPut:
      rocksdb_writebatch_put_cf(batch, family, key.data(), key.size(), value.data(), value.size());
      break;
    case Operation::kDelete:
      if (!value.empty()) throw malformed("a deletion has a value");
      rocksdb_writebatch_delete_cf(batch, family, key.data(), key.size());
      break;
    case Operation::kDeleteRange:
      if (value < key) throw malformed("a range ends before it begins");
      if (key < value) rocksdb_writebatch_delete_range_cf(batch, family, key.data(), key.size(), value.data(), value.size());
      break;
    default:
      throw malformed("an operation that is not 1, 2 or 3");
  }
  return static_cast<size_t>(rowLength);
}

void apply(const Database& database, rocksdb_writebatch_t* batch) {
  Status status;
  rocksdb_write(database.db(), database.writeOptions(), batch, status.out());
  status.check();
}

// A key below `upper`, with next to no room between them: files are deleted up to and with their bound, ranges without.
std::string below(std::string_view upper) {
  std::string key(upper);
  const char last = key.back();
  key.pop_back();
  if (last == 0) return key;
  key.push_back(static_cast<char>(static_cast<unsigned char>(last) - 1));
  return key.append(64, static_cast<char>(0xff));
}

}  // namespace

void writeRows(const Database& database, std::string_view rows) {
  const OwnedBatch batch(rocksdb_writebatch_create());
  while (!rows.empty()) rows.remove_prefix(addRow(database, batch.get(), rows));
  if (rocksdb_writebatch_count(batch.get()) > 0) apply(database, batch.get());
}

napi_value put(const Call& call) {
  const Database& database = call.database(0);
  auto* family = database.family(call.whole(1, "family", UINT32_MAX));
  const std::string_view key = call.prefix(2, "key");
  const std::string_view value = call.prefix(4, "value");
  Status status;
  rocksdb_put_cf(database.db(), database.writeOptions(), family, key.data(), key.size(), value.data(), value.size(), status.out());
  status.check();
  return call.give();
}

napi_value remove(const Call& call) {
  const Database& database = call.database(0);
  auto* family = database.family(call.whole(1, "family", UINT32_MAX));
  const std::string_view key = call.prefix(2, "key");
  Status status;
  rocksdb_delete_cf(database.db(), database.writeOptions(), family, key.data(), key.size(), status.out());
  status.check();
  return call.give();
}

napi_value write(const Call& call) {
  writeRows(call.database(0), call.prefix(1, "batch"));
  return call.give();
}

napi_value dropRange(const Call& call) {
  const Database& database = call.database(0);
  auto* family = database.family(call.whole(1, "family", UINT32_MAX));
  const std::string_view lower = call.bytes(2, "lower");
  const std::string_view upper = call.bytes(3, "upper");
  if (upper <= lower) throw Refusal::argument("'upper' is not above 'lower'");
  const std::string limit = below(upper);
  Status status;
  if (lower < limit) {
    rocksdb_delete_file_in_range_cf(database.db(), family, lower.data(), lower.size(), limit.data(), limit.size(), status.out());
    status.check();
  }
  // Only after the files: a file that is gone may have held the deletion of what an older one, not wholly inside, still has.
  const OwnedBatch batch(rocksdb_writebatch_create());
  rocksdb_writebatch_delete_range_cf(batch.get(), family, lower.data(), lower.size(), upper.data(), upper.size());
  apply(database, batch.get());
  return call.give();
}

}  // namespace weir
