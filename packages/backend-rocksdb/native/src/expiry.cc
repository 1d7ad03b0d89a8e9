#include "expiry.h"

#include <cstring>
#include <limits>

namespace weir {
namespace {

unsigned char hasExpired(void* state, int, const char*, size_t, const char* value, size_t length, char**, size_t*, unsigned char*) {
  double expires;
  if (length < sizeof expires) return 0;
  std::memcpy(&expires, value, sizeof expires);
  const ExpiryClock& clock = *static_cast<ExpiryClock*>(state);
  // What is no number stays.
  return expires <= clock->load(std::memory_order_relaxed) ? 1 : 0;
}

// Also written into the files of the database.
const char* nameOf(void*) { return "weir.expiry"; }

void forget(void* state) { delete static_cast<ExpiryClock*>(state); }

}  // namespace

ExpiryClock stoppedClock() { return std::make_shared<std::atomic<double>>(-std::numeric_limits<double>::infinity()); }

OwnedFilter expiryFilter(const ExpiryClock& clock) {
  return OwnedFilter(rocksdb_compactionfilter_create(new ExpiryClock(clock), forget, hasExpired, nameOf));
}

}  // namespace weir
