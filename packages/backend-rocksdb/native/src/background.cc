#include <memory>
#include <string>

#include "batch.h"
#include "call.h"
#include "database.h"
#include "methods.h"

namespace weir {
namespace {

// Work on a thread of libuv's pool, and the promise of it.
struct Work {
  using Run = void (*)(Work& work);

  Run run;
  Database::Task task;
  std::shared_ptr<Database> database;
  std::string directory;
  std::string rows;
  rocksdb_column_family_handle_t* family = nullptr;

  napi_async_work handle = nullptr;
  napi_deferred promise = nullptr;
  const char* code = nullptr;
  std::string message;
};

void refuse(Work& work, const Refusal& refusal) {
  work.code = refusal.code;
  work.message = refusal.message;
}

void execute(napi_env, void* data) {
  Work& work = *static_cast<Work*>(data);
  if (!work.database->begin(work.task)) return refuse(work, Refusal::closed("the database"));
  try {
    work.run(work);
  } catch (const Refusal& refusal) {
    refuse(work, refusal);
  } catch (const std::exception& error) {
    refuse(work, {"FAILED", error.what()});
  }
  // RocksDB itself does not say whether a rewrite came to its end.
  if (!work.database->end(work.task)) refuse(work, Refusal::closed("the database"));
}

void settle(napi_env env, Work& work) {
  napi_value result;
  if (work.code == nullptr) {
    require(napi_get_undefined(env, &result));
    require(napi_resolve_deferred(env, work.promise, result));
    return;
  }
  napi_value code;
  napi_value message;
  require(napi_create_string_utf8(env, work.code, NAPI_AUTO_LENGTH, &code));
  require(napi_create_string_utf8(env, work.message.data(), work.message.size(), &message));
  require(napi_create_error(env, code, message, &result));
  require(napi_reject_deferred(env, work.promise, result));
}

void complete(napi_env env, napi_status status, void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  if (status == napi_cancelled) refuse(*work, Refusal::closed("the thread"));
  try {
    settle(env, *work);
  } catch (const Refusal&) {
    // The thread is going down, and nobody is left who could wait for the promise.
  }
  napi_delete_async_work(env, work->handle);
}

napi_value start(const Call& call, std::unique_ptr<Work> work) {
  napi_value promise;
  napi_value name;
  require(napi_create_string_utf8(call.env(), "weir:rocksdb", NAPI_AUTO_LENGTH, &name));
  require(napi_create_async_work(call.env(), nullptr, name, execute, complete, work.get(), &work->handle));
  require(napi_create_promise(call.env(), &work->promise, &promise));
  require(napi_queue_async_work(call.env(), work->handle));
  work.release();
  return promise;
}

std::unique_ptr<Work> workOf(const Call& call, Work::Run run, Database::Task task) {
  call.database(0);
  auto work = std::make_unique<Work>();
  work->run = run;
  work->task = task;
  work->database = call.sharedDatabase(0);
  return work;
}

void runFlush(Work& work) {
  const OwnedFlushOptions options(rocksdb_flushoptions_create());
  rocksdb_flushoptions_set_wait(options.get(), 1);
  for (auto* family : work.database->families()) {
    Status status;
    rocksdb_flush_cf(work.database->db(), options.get(), family, status.out());
    status.check();
  }
}

void runCheckpoint(Work& work) {
  constexpr uint64_t kFlushAlways = 0;
  Status status;
  const OwnedCheckpoint checkpoint(rocksdb_checkpoint_object_create(work.database->db(), status.out()));
  status.check();
  rocksdb_checkpoint_create(checkpoint.get(), work.directory.c_str(), kFlushAlways, status.out());
  status.check();
}

void runWrite(Work& work) { writeRows(*work.database, work.rows); }

void runCompact(Work& work) { rocksdb_compact_range_cf(work.database->db(), work.family, nullptr, 0, nullptr, 0); }

}  // namespace

napi_value flush(const Call& call) { return start(call, workOf(call, runFlush, Database::Task::kFinished)); }

napi_value checkpoint(const Call& call) {
  auto work = workOf(call, runCheckpoint, Database::Task::kFinished);
  work->directory = call.text(1, "directory");
  return start(call, std::move(work));
}

napi_value writeAside(const Call& call) {
  auto work = workOf(call, runWrite, Database::Task::kFinished);
  work->rows = call.prefix(1, "batch");
  return start(call, std::move(work));
}

napi_value compact(const Call& call) {
  auto work = workOf(call, runCompact, Database::Task::kBrokenOff);
  work->family = work->database->family(call.whole(1, "family", UINT32_MAX));
  return start(call, std::move(work));
}

}  // namespace weir
