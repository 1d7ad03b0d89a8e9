#include <node_api.h>
#include <rocksdb/version.h>

#include "call.h"
#include "methods.h"

namespace weir {
namespace {

// What src/driver/native-binding.ts expects; goes up with every change of a method, so that an older binary is noticed.
constexpr int64_t kInterfaceVersion = 2;

#define WEIR_TEXT_OF(x) #x
#define WEIR_TEXT(x) WEIR_TEXT_OF(x)
constexpr char kLibraryVersion[] = WEIR_TEXT(ROCKSDB_MAJOR) "." WEIR_TEXT(ROCKSDB_MINOR) "." WEIR_TEXT(ROCKSDB_PATCH);

template <Method method>
void expose(napi_env env, napi_value exports, const char* name) {
  napi_value function;
  require(napi_create_function(env, name, NAPI_AUTO_LENGTH, exposed<method>, nullptr, &function));
  require(napi_set_named_property(env, exports, name, function));
}

void exposeAll(napi_env env, napi_value exports) {
  attach(env);
  napi_value version;
  require(napi_create_int64(env, kInterfaceVersion, &version));
  require(napi_set_named_property(env, exports, "interfaceVersion", version));
  require(napi_create_string_utf8(env, kLibraryVersion, NAPI_AUTO_LENGTH, &version));
  require(napi_set_named_property(env, exports, "libraryVersion", version));
  expose<openDatabase>(env, exports, "open");
  expose<closeDatabase>(env, exports, "close");
  expose<setNow>(env, exports, "setNow");
  expose<getInto>(env, exports, "getInto");
  expose<getMany>(env, exports, "getMany");
  expose<put>(env, exports, "put");
  expose<remove>(env, exports, "remove");
  expose<write>(env, exports, "write");
  expose<dropRange>(env, exports, "dropRange");
  expose<takeSnapshot>(env, exports, "takeSnapshot");
  expose<releaseSnapshot>(env, exports, "releaseSnapshot");
  expose<iterate>(env, exports, "iterate");
  expose<next>(env, exports, "next");
  expose<closeIterator>(env, exports, "closeIterator");
  expose<writeAside>(env, exports, "writeAside");
  expose<flush>(env, exports, "flush");
  expose<checkpoint>(env, exports, "checkpoint");
  expose<compact>(env, exports, "compact");
  expose<liveFiles>(env, exports, "liveFiles");
  expose<property>(env, exports, "property");
  expose<statistics>(env, exports, "statistics");
}

napi_value initialize(napi_env env, napi_value exports) {
  try {
    exposeAll(env, exports);
  } catch (const Refusal& refusal) {
    throwInto(env, refusal);
  }
  return exports;
}

}  // namespace
}  // namespace weir

NAPI_MODULE_INIT() { return weir::initialize(env, exports); }
