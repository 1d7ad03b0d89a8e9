#pragma once

#include <atomic>
#include <memory>

#include "owned.h"

namespace weir {

// Read by RocksDB's threads, set by JavaScript's.
using ExpiryClock = std::shared_ptr<std::atomic<double>>;

ExpiryClock stoppedClock();

// Leaves out of rewritten files what has expired by the clock: values that begin with a float64 (little endian) at or before it.
OwnedFilter expiryFilter(const ExpiryClock& clock);

}  // namespace weir
