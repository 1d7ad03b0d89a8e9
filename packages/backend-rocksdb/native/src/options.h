#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "owned.h"

namespace weir {

enum class Mode : uint32_t { kCreate = 0, kOpen = 1, kRead = 2 };

struct OpenRequest {
  std::string directory;
  Mode mode;
  std::vector<std::string> families;
  // One per family.
  std::vector<bool> expires;
  size_t blockCacheBytes;
  size_t writeBufferBytes;
  bool snappy;
  double bloomBitsPerKey;
  bool statistics;
};

// Options of a database and of a family at once, as RocksDB has them. `filter` may be null.
OwnedOptions optionsOf(const OpenRequest& request, rocksdb_cache_t* cache, rocksdb_compactionfilter_t* filter);

}  // namespace weir
