#include "options.h"

#include <rocksdb/version.h>

#include "refusal.h"

namespace weir {
namespace {

// What another build of RocksDB must understand to read our files. Never change: checkpoints outlive the library.
constexpr int kFormatVersion = 5;
#if ROCKSDB_MAJOR >= 7
constexpr char kCrc32c = 1;
#endif

// A checkpoint copies the manifest, so it must not grow with the age of the database.
constexpr size_t kManifestBytes = 1 << 20;
constexpr size_t kLogBytes = 1 << 20;
constexpr int kLogErrors = 3;

constexpr int kWriteBuffers = 3;

// Rewriting level 0 into the next rewrites all of a small database, so it is done rarely: of a state that changes evenly by one per cent
// between checkpoints, an incremental checkpoint then uploads a few per cent, not a quarter. The Bloom filters pay for the many files.
constexpr int kLevel0Files = 16;
constexpr int kLevel0SlowDown = 32;
constexpr int kLevel0Stop = 48;

OwnedTableOptions tableOptionsOf(const OpenRequest& request, rocksdb_cache_t* cache) {
  OwnedTableOptions table(rocksdb_block_based_options_create());
  rocksdb_block_based_options_set_format_version(table.get(), kFormatVersion);
#if ROCKSDB_MAJOR >= 7
  // Before 7, CRC32c is what it does by itself, and the C interface has no say in it.
  rocksdb_block_based_options_set_checksum(table.get(), kCrc32c);
#endif
  rocksdb_block_based_options_set_block_cache(table.get(), cache);
  // Counted as part of the cache: else they grow with the state, without a bound.
  rocksdb_block_based_options_set_cache_index_and_filter_blocks(table.get(), 1);
  rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table.get(), 1);
  rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table.get(), 1);
  if (request.bloomBitsPerKey > 0) {
    // The table takes the policy over.
    rocksdb_block_based_options_set_filter_policy(table.get(), rocksdb_filterpolicy_create_bloom_full(request.bloomBitsPerKey));
  }
  return table;
}

}  // namespace

OwnedOptions optionsOf(const OpenRequest& request, rocksdb_cache_t* cache, rocksdb_compactionfilter_t* filter) {
  const OwnedOptions base(rocksdb_options_create());
  OwnedOptions options(rocksdb_options_create());
  Status status;
  // Not to be had from the C interface otherwise. Working state that no checkpoint covers is not worth writing when it is closed.
  rocksdb_get_options_from_string(base.get(), "avoid_flush_during_shutdown=true", options.get(), status.out());
  status.check();

  rocksdb_options_t* o = options.get();
  rocksdb_options_set_create_if_missing(o, request.mode == Mode::kCreate);
  rocksdb_options_set_error_if_exists(o, request.mode == Mode::kCreate);
  rocksdb_options_set_create_missing_column_families(o, request.mode != Mode::kRead);
  // Without a log, families flushed at different moments would be families of different moments.
  rocksdb_options_set_atomic_flush(o, 1);
  rocksdb_options_set_write_buffer_size(o, request.writeBufferBytes);
  rocksdb_options_set_max_write_buffer_number(o, kWriteBuffers);
  rocksdb_options_set_compression(o, request.snappy ? rocksdb_snappy_compression : rocksdb_no_compression);
  rocksdb_options_set_level0_file_num_compaction_trigger(o, kLevel0Files);
  rocksdb_options_set_level0_slowdown_writes_trigger(o, kLevel0SlowDown);
  rocksdb_options_set_level0_stop_writes_trigger(o, kLevel0Stop);
  rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1);
  rocksdb_options_set_max_manifest_file_size(o, kManifestBytes);
  rocksdb_options_set_info_log_level(o, kLogErrors);
  rocksdb_options_set_keep_log_file_num(o, 1);
  rocksdb_options_set_max_log_file_size(o, kLogBytes);
  rocksdb_options_set_stats_dump_period_sec(o, 0);
  rocksdb_options_increase_parallelism(o, 2);
  if (request.statistics) rocksdb_options_enable_statistics(o);
  if (filter != nullptr) rocksdb_options_set_compaction_filter(o, filter);
  rocksdb_options_set_block_based_table_factory(o, tableOptionsOf(request, cache).get());
  return options;
}

}  // namespace weir
