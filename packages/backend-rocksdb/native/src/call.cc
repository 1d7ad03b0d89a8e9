#include "call.h"

#include <cmath>
#include <unordered_map>

#include "database.h"
#include "iterators.h"

namespace weir {
namespace {

enum class Kind { kDatabase, kIterator, kSnapshot };

// Lives as long as the thread's environment and every object that it gave out, whichever of them goes last.
struct Thread {
  std::unordered_map<const void*, Kind> given;
};

struct Given {
  std::shared_ptr<Thread> thread;
  std::shared_ptr<Database> database;
  std::unique_ptr<Iterator> iterator;
  std::unique_ptr<Snapshot> snapshot;
};

std::shared_ptr<Thread>& threadOf(napi_env env) {
  void* data = nullptr;
  require(napi_get_instance_data(env, &data));
  return *static_cast<std::shared_ptr<Thread>*>(data);
}

void collect(napi_env, void* data, void*) {
  auto* given = static_cast<Given*>(data);
  given->thread->given.erase(given);
  delete given;
}

napi_value handOver(napi_env env, Kind kind, std::unique_ptr<Given> given) {
  given->thread = threadOf(env);
  given->thread->given.emplace(given.get(), kind);
  napi_value value;
  const napi_status status = napi_create_external(env, given.get(), collect, nullptr, &value);
  if (status != napi_ok) {
    given->thread->given.erase(given.get());
    require(status);
  }
  given.release();
  return value;
}

Given& takeBack(napi_env env, napi_value value, Kind kind, const char* name) {
  void* data = nullptr;
  // Anybody's external may come in: it is not looked into unless it is one of ours.
  if (napi_get_value_external(env, value, &data) == napi_ok) {
    const auto& given = threadOf(env)->given;
    const auto found = given.find(data);
    if (found != given.end() && found->second == kind) return *static_cast<Given*>(data);
  }
  throw Refusal::argument(std::string("not ") + name);
}

std::string quoted(const char* name) { return std::string("'") + name + "'"; }

}  // namespace

void require(napi_status status) {
  if (status != napi_ok) throw Refusal{"FAILED", "Node-API gave status " + std::to_string(status)};
}

void throwInto(napi_env env, const Refusal& refusal) {
  bool pending = false;
  // What JavaScript threw itself, or a thread that is being ended, goes first.
  if (napi_is_exception_pending(env, &pending) == napi_ok && !pending) {
    napi_throw_error(env, refusal.code, refusal.message.c_str());
  }
}

void attach(napi_env env) {
  auto thread = std::make_unique<std::shared_ptr<Thread>>(std::make_shared<Thread>());
  const auto end = [](napi_env, void* data, void*) { delete static_cast<std::shared_ptr<Thread>*>(data); };
  require(napi_set_instance_data(env, thread.get(), end, nullptr));
  thread.release();
}

Call::Call(napi_env env, napi_callback_info info) : env_(env) {
  require(napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr));
}

napi_value Call::at(size_t index) const {
  if (index >= count_ || index >= kMostArguments) throw Refusal::argument("argument " + std::to_string(index) + " is missing");
  return values_[index];
}

Database& Call::database(size_t index) const {
  Database& database = *takeBack(env_, at(index), Kind::kDatabase, "a database").database;
  database.requireOpen();
  return database;
}

std::shared_ptr<Database> Call::sharedDatabase(size_t index) const {
  return takeBack(env_, at(index), Kind::kDatabase, "a database").database;
}

Iterator& Call::iterator(size_t index) const {
  return *takeBack(env_, at(index), Kind::kIterator, "an iterator").iterator;
}

Snapshot& Call::snapshot(size_t index) const {
  return *takeBack(env_, at(index), Kind::kSnapshot, "a snapshot").snapshot;
}

bool Call::isAbsent(size_t index) const {
  napi_valuetype type;
  require(napi_typeof(env_, at(index), &type));
  return type == napi_undefined;
}

bool Call::boolean(size_t index) const {
  bool value = false;
  if (napi_get_value_bool(env_, at(index), &value) != napi_ok) throw Refusal::argument("not a boolean");
  return value;
}

double Call::number(size_t index) const {
  double value = 0;
  if (napi_get_value_double(env_, at(index), &value) != napi_ok || std::isnan(value)) throw Refusal::argument("not a number");
  return value;
}

uint64_t Call::whole(size_t index, const char* name, uint64_t most) const {
  double value = 0;
  const bool isNumber = napi_get_value_double(env_, at(index), &value) == napi_ok;
  // False for NaN too.
  if (!isNumber || !(value >= 0 && value <= static_cast<double>(most)) || value != std::floor(value)) {
    throw Refusal::argument(quoted(name) + " is not a whole number from 0 to " + std::to_string(most));
  }
  return static_cast<uint64_t>(value);
}

std::string Call::textOf(napi_value value, const char* name) const {
  size_t length = 0;
  if (napi_get_value_string_utf8(env_, value, nullptr, 0, &length) != napi_ok) {
    throw Refusal::argument(quoted(name) + " is not a string");
  }
  std::string text(length + 1, '\0');
  require(napi_get_value_string_utf8(env_, value, text.data(), text.size(), &length));
  text.resize(length);
  // RocksDB's C interface ends a name at the first zero.
  if (text.find('\0') != std::string::npos) throw Refusal::argument(quoted(name) + " has a zero character");
  return text;
}

std::string Call::text(size_t index, const char* name) const { return textOf(at(index), name); }

std::vector<std::string> Call::texts(size_t index, const char* name) const {
  bool isArray = false;
  require(napi_is_array(env_, at(index), &isArray));
  if (!isArray) throw Refusal::argument(quoted(name) + " is not an array");
  uint32_t length = 0;
  require(napi_get_array_length(env_, at(index), &length));
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < length; i++) {
    napi_value element;
    require(napi_get_element(env_, at(index), i, &element));
    texts.push_back(textOf(element, name));
  }
  return texts;
}

std::vector<uint32_t> Call::wholes(size_t index, const char* name) const {
  bool isArray = false;
  require(napi_is_array(env_, at(index), &isArray));
  if (!isArray) throw Refusal::argument(quoted(name) + " is not an array");
  uint32_t length = 0;
  require(napi_get_array_length(env_, at(index), &length));
  std::vector<uint32_t> wholes;
  for (uint32_t i = 0; i < length; i++) {
    napi_value element;
    uint32_t whole = 0;
    require(napi_get_element(env_, at(index), i, &element));
    if (napi_get_value_uint32(env_, element, &whole) != napi_ok) throw Refusal::argument(quoted(name) + " holds what is no number");
    wholes.push_back(whole);
  }
  return wholes;
}

Buffer Call::buffer(size_t index, const char* name) const {
  bool isTypedArray = false;
  napi_typedarray_type type = napi_int8_array;
  size_t length = 0;
  void* data = nullptr;
  require(napi_is_typedarray(env_, at(index), &isTypedArray));
  if (isTypedArray) require(napi_get_typedarray_info(env_, at(index), &type, &length, &data, nullptr, nullptr));
  if (!isTypedArray || type != napi_uint8_array) throw Refusal::argument(quoted(name) + " is not a Uint8Array");
  return {static_cast<char*>(data), length};
}

std::string_view Call::prefix(size_t index, const char* name) const {
  const Buffer whole = buffer(index, name);
  const uint64_t length = this->whole(index + 1, "length", UINT32_MAX);
  if (length > whole.length) {
    throw Refusal::argument(quoted(name) + " has " + std::to_string(whole.length) + " bytes, not " + std::to_string(length));
  }
  return {whole.data, static_cast<size_t>(length)};
}

std::string_view Call::bytes(size_t index, const char* name) const {
  const Buffer whole = buffer(index, name);
  return {whole.data, whole.length};
}

napi_value Call::give(int64_t number) const {
  napi_value value;
  require(napi_create_int64(env_, number, &value));
  return value;
}

napi_value Call::give(std::string_view text) const {
  napi_value value;
  require(napi_create_string_utf8(env_, text.data(), text.size(), &value));
  return value;
}

napi_value Call::give(std::shared_ptr<Database> database) const {
  auto given = std::make_unique<Given>();
  given->database = std::move(database);
  return handOver(env_, Kind::kDatabase, std::move(given));
}

napi_value Call::give(std::unique_ptr<Iterator> iterator) const {
  auto given = std::make_unique<Given>();
  given->iterator = std::move(iterator);
  return handOver(env_, Kind::kIterator, std::move(given));
}

napi_value Call::give(std::unique_ptr<Snapshot> snapshot) const {
  auto given = std::make_unique<Given>();
  given->snapshot = std::move(snapshot);
  return handOver(env_, Kind::kSnapshot, std::move(given));
}

}  // namespace weir
