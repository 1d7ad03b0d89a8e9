{
  'variables': {
    # Where the npm package `rocksdb` was unpacked, to build its RocksDB in; empty: link the system's.
    'rocksdb_sources%': '',
  },
  'targets': [
    {
      'target_name': 'weir_rocksdb',
      'sources': [
        'src/background.cc',
        'src/call.cc',
        'src/database.cc',
        'src/expiry.cc',
        'src/inspect.cc',
        'src/iterators.cc',
        'src/module.cc',
        'src/options.cc',
        'src/reads.cc',
        'src/writes.cc',
      ],
      'defines': ['NAPI_VERSION=8'],
      'cflags_cc': ['-std=c++17', '-O2', '-Wall', '-Wextra', '-Werror', '-fvisibility=hidden'],
      # A refused argument is a C++ exception until it reaches JavaScript (call.h).
      'cflags_cc!': ['-fno-exceptions', '-std=gnu++17', '-std=gnu++14'],
      'conditions': [
        [
          'rocksdb_sources==""',
          {'libraries': ['-lrocksdb']},
          {
            'dependencies': ['<(rocksdb_sources)/deps/rocksdb/rocksdb.gyp:rocksdb'],
            'include_dirs': ['<(rocksdb_sources)/deps/rocksdb/rocksdb/include'],
          },
        ],
      ],
    },
  ],
}
