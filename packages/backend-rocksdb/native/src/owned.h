#pragma once

#include <rocksdb/c.h>

#include <memory>

namespace weir {

// A pointer that RocksDB gave out, and the function that takes it back.
template <typename T, auto Destroy>
struct Return {
  void operator()(T* pointer) const { Destroy(pointer); }
};
template <typename T, auto Destroy>
using Owned = std::unique_ptr<T, Return<T, Destroy>>;

using OwnedOptions = Owned<rocksdb_options_t, rocksdb_options_destroy>;
using OwnedTableOptions = Owned<rocksdb_block_based_table_options_t, rocksdb_block_based_options_destroy>;
using OwnedUniversalOptions = Owned<rocksdb_universal_compaction_options_t, rocksdb_universal_compaction_options_destroy>;
using OwnedCache = Owned<rocksdb_cache_t, rocksdb_cache_destroy>;
using OwnedFilter = Owned<rocksdb_compactionfilter_t, rocksdb_compactionfilter_destroy>;
using OwnedReadOptions = Owned<rocksdb_readoptions_t, rocksdb_readoptions_destroy>;
using OwnedWriteOptions = Owned<rocksdb_writeoptions_t, rocksdb_writeoptions_destroy>;
using OwnedFlushOptions = Owned<rocksdb_flushoptions_t, rocksdb_flushoptions_destroy>;
using OwnedBatch = Owned<rocksdb_writebatch_t, rocksdb_writebatch_destroy>;
using OwnedSlice = Owned<rocksdb_pinnableslice_t, rocksdb_pinnableslice_destroy>;
using OwnedIterator = Owned<rocksdb_iterator_t, rocksdb_iter_destroy>;
using OwnedCheckpoint = Owned<rocksdb_checkpoint_t, rocksdb_checkpoint_object_destroy>;
using OwnedText = Owned<char, rocksdb_free>;
using OwnedFiles = std::unique_ptr<const rocksdb_livefiles_t, Return<const rocksdb_livefiles_t, rocksdb_livefiles_destroy>>;

}  // namespace weir
