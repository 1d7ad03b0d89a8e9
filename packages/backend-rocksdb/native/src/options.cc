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

// Everything rewritten is uploaded again by the next incremental checkpoint. Compaction by levels rewrites all of a small database every few
// checkpoints; universal compaction merges files of like size, and all of them when the newer ones have grown to the size of the oldest.
constexpr int kSortedRuns = 8;
constexpr int kMostSpacePercent = 100;

OwnedTableOptions tableOptionsOf(const OpenRequest& request, rocksdb_cache_t* cache) {
  OwnedTableOptions table(rocksdb_block_based_options_create());
  rocksdb_block_based_options_set_format_version(table.get(), kFormatVersion);
#if ROCKSDB_MAJOR >= 7
  // Before 7, CRC32c is what it does by itself, and the C interface has no say in it.
  rocksdb_block_based_options_set_checksum(table.get(), kCrc32c);
#endif
  rocksdb_block_based_options_set_block_cache(table.get(), cache);
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
  rocksdb_options_set_write_buffer_size(o, request.writeBufferBytes);
  rocksdb_options_set_max_write_buffer_number(o, kWriteBuffers);
  rocksdb_options_set_compression(o, request.snappy ? rocksdb_snappy_compression : rocksdb_no_compression);
  const OwnedUniversalOptions universal(rocksdb_universal_compaction_options_create());
  rocksdb_universal_compaction_options_set_max_size_amplification_percent(universal.get(), kMostSpacePercent);
  rocksdb_options_set_compaction_style(o, rocksdb_universal_compaction);
  rocksdb_options_set_universal_compaction_options(o, universal.get());
  rocksdb_options_set_level0_file_num_compaction_trigger(o, kSortedRuns);
  // Where compaction is by levels only, and by default in newer versions.
  rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 0);
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
