import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { messageOf, propertyOf, WeirError } from '@weir/core/contracts';
import { INTERFACE_VERSION, type NativeBinding } from './native-binding.js';
import { NativeDatabase } from './native-database.js';
import type { RocksDriver } from './rocks-driver.js';

/** Where the binary may be, from the root of this package: as published for this platform, or built here by `build:native`. */
export const BINARIES: readonly string[] = [
  `prebuilds/${process.platform}-${process.arch}/@weir+backend-rocksdb.node`,
  'native/build/Release/weir_rocksdb.node',
];

/** The driver of RocksDB. Fails with `ROCKSDB_UNAVAILABLE`, which says what to install, where there is no binary that can be loaded. */
export function loadDriver(): RocksDriver {
  const native = loadBinding(binariesOf(import.meta.url));
  return {
    libraryVersion: native.libraryVersion,
    open: (directory, options) => new NativeDatabase(native, directory, options),
  };
}

/** Where the binaries are, seen from this module: its `import.meta.url`, which a bundle in the format of CommonJS does not have. */
export function binariesOf(module: string | undefined): readonly string[] {
  if (module === undefined) throw unavailable(BINARIES, []);
  return BINARIES.map((binary) => fileURLToPath(new URL(`../../${binary}`, module)));
}

/** The first of these files that can be loaded and has the functions that this version calls. */
export function loadBinding(candidates: readonly string[]): NativeBinding {
  const require = createRequire(import.meta.url);
  const failures: unknown[] = [];
  for (const candidate of candidates) {
    try {
      // The addon's functions are declared by hand; the version says that the declaration is of this binary.
      const native = require(candidate) as NativeBinding;
      if (native.interfaceVersion === INTERFACE_VERSION) return native;
      failures.push(new Error(`${candidate} was built from another version of the sources`));
    } catch (error) {
      failures.push(error);
    }
  }
  throw unavailable(candidates, failures);
}

function unavailable(candidates: readonly string[], failures: readonly unknown[]): WeirError {
  const isMissing = (error: unknown): boolean => propertyOf(error, 'code') === 'MODULE_NOT_FOUND';
  const broken = failures.filter((error) => !isMissing(error));
  const found =
    broken.length > 0
      ? `cannot load its RocksDB driver (${broken.map((error) => messageOf(error).split('\n')[0]).join('; ')})`
      : `has no RocksDB driver for ${process.platform}-${process.arch} (looked for ${candidates.join(' and ')})`;
  return new WeirError(
    'ROCKSDB_UNAVAILABLE',
    `@weir/backend-rocksdb ${found}. Install a C++ compiler, make, Python 3 and the headers of RocksDB (Debian and Ubuntu: ` +
      'apt-get install g++ make python3 librocksdb-dev), then run: npm explore @weir/backend-rocksdb -- npm run build:native. A bundle cannot hold a driver: ' +
      'leave @weir/backend-rocksdb out of it and install it beside it (esbuild: --external:@weir/backend-rocksdb)',
    { cause: broken[0] ?? failures[0], recoverable: false },
  );
}
