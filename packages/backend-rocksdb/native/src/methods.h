#pragma once

#include <node_api.h>

namespace weir {

class Call;

// What module.cc exposes, by the file that it is in. The arguments of each are listed in src/driver/native-binding.ts.

// database.cc
napi_value openDatabase(const Call& call);
napi_value closeDatabase(const Call& call);
napi_value setNow(const Call& call);

// reads.cc
napi_value getInto(const Call& call);
napi_value getMany(const Call& call);

// writes.cc
napi_value put(const Call& call);
napi_value remove(const Call& call);
napi_value write(const Call& call);
napi_value dropRange(const Call& call);

// iterators.cc
napi_value takeSnapshot(const Call& call);
napi_value releaseSnapshot(const Call& call);
napi_value iterate(const Call& call);
napi_value next(const Call& call);
napi_value closeIterator(const Call& call);

// background.cc
napi_value writeAside(const Call& call);
napi_value flush(const Call& call);
napi_value checkpoint(const Call& call);
napi_value compact(const Call& call);

// inspect.cc
napi_value liveFiles(const Call& call);
napi_value property(const Call& call);
napi_value statistics(const Call& call);

}  // namespace weir
