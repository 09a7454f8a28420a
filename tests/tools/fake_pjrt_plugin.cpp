// A PJRT plugin that computes nothing: it has as many functions as a test wants, and answers as it is told.
#include "tests/tools/fake_pjrt_plugin.h"

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "backends/xla/abi.h"

namespace alate::xla {
namespace {

FakePlugin fake;
FakeRuns runs;
abi::Api table;

struct Failure {
  int code;
  std::string message;
};

abi::Error* fail(int code, std::string message) {
  return reinterpret_cast<abi::Error*>(new Failure{code, std::move(message)});
}

// Stand for what a plugin owns.
char client_place, device_places[8], description_places[8], executable_place;

template <typename Handle>
Handle* handle(char& place) {
  return reinterpret_cast<Handle*>(&place);
}

abi::Device* const kDevices[] = {reinterpret_cast<abi::Device*>(&device_places[0]),
                                 reinterpret_cast<abi::Device*>(&device_places[1]),
                                 reinterpret_cast<abi::Device*>(&device_places[2])};

void error_destroy(abi::ErrorDestroy* call) { delete reinterpret_cast<Failure*>(call->error); }
void error_message(abi::ErrorMessage* call) {
  const auto* failure = reinterpret_cast<const Failure*>(call->error);
  call->message = failure->message.data();
  call->message_size = failure->message.size();
}
abi::Error* error_code(abi::ErrorCode* call) {
  call->code = reinterpret_cast<const Failure*>(call->error)->code;
  return nullptr;
}
abi::Error* plugin_initialize(abi::PluginInitialize*) { return nullptr; }
abi::Error* plugin_attributes(abi::PluginAttributes* call) {
  static const std::int64_t version[] = {1, 2, 3};
  static abi::NamedValue values[2];
  values[0].name = "stablehlo_current_version";
  values[0].name_size = std::strlen(values[0].name);
  values[0].kind = abi::ValueKind::integers;
  values[0].integers = version;
  values[0].value_size = 3;
  values[1].name = "answers";
  values[1].name_size = std::strlen(values[1].name);
  values[1].kind = abi::ValueKind::boolean;
  values[1].boolean = true;
  call->attributes = values;
  call->count = 2;
  return nullptr;
}
abi::Error* client_create(abi::ClientCreate* call) {
  ++fake.created;
  if (call->option_count > 0 && !fake.knows_options) return fail(3, "unknown option");
  call->client = handle<abi::Client>(client_place);
  return nullptr;
}
abi::Error* client_destroy(abi::ClientDestroy*) { return nullptr; }
abi::Error* platform_name(abi::ClientText* call) {
  call->text = "Imaginary";
  call->text_size = std::strlen(call->text);
  return nullptr;
}
abi::Error* platform_version(abi::ClientText* call) {
  call->text = "driver 7";
  call->text_size = std::strlen(call->text);
  return nullptr;
}
abi::Error* addressable_devices(abi::ClientDevices* call) {
  call->devices = kDevices;
  call->device_count = static_cast<std::size_t>(fake.devices);
  return nullptr;
}
abi::Error* get_description(abi::DeviceGetDescription* call) {
  const auto place = reinterpret_cast<char*>(call->device) - device_places;
  call->description = handle<abi::DeviceDescription>(description_places[place]);
  return nullptr;
}
abi::Error* description_id(abi::DescriptionId* call) {
  call->id = static_cast<int>(reinterpret_cast<char*>(call->description) - description_places);
  return nullptr;
}
abi::Error* description_kind(abi::DescriptionText* call) {
  call->text = "Unicorn 3";
  call->text_size = std::strlen(call->text);
  return nullptr;
}
abi::Error* description_attributes(abi::DescriptionAttributes* call) {
  static abi::NamedValue value;
  value.name = "compute_capability";
  value.name_size = std::strlen(value.name);
  value.kind = abi::ValueKind::string;
  value.string = "9.9";
  value.value_size = 3;
  call->attributes = &value;
  call->count = 1;
  return nullptr;
}
abi::Error* memory_stats(abi::DeviceMemoryStats* call) {
  if (!fake.has_memory_stats) return fail(12, "no counts are kept");
  call->bytes_in_use = 1000;
  call->limit = {.value = 5000, .is_set = true};
  return nullptr;
}
abi::Error* client_compile(abi::ClientCompile* call) {
  ++fake.compiled;
  if (fake.compile_error != 0) return fail(fake.compile_error, "there is\nno room");
  call->executable = handle<abi::LoadedExecutable>(executable_place);
  return nullptr;
}
abi::Error* executable_destroy(abi::LoadedExecutableCall*) { return nullptr; }
abi::Error* get_executable(abi::GetExecutable* call) {
  call->executable = handle<abi::Executable>(executable_place);
  return nullptr;
}
abi::Error* destroy_executable(abi::ExecutableDestroy*) { return nullptr; }
abi::Error* serialize(abi::ExecutableSerialize* call) {
  if (!fake.can_serialize) return fail(12, "programs stay here");
  call->bytes = "program";
  call->byte_count = 7;
  call->destroy = [](abi::SerializedExecutable*) {};
  return nullptr;
}
abi::Error* deserialize(abi::DeserializeAndLoad* call) {
  if (std::string(call->bytes, call->byte_count) != "program") return fail(3, "this is no program");
  call->executable = handle<abi::LoadedExecutable>(executable_place);
  return nullptr;
}
abi::Buffer* new_buffer() {
  ++runs.buffers;
  return reinterpret_cast<abi::Buffer*>(new char);
}
abi::Error* buffer_from_host(abi::BufferFromHost* call) {
  call->buffer = new_buffer();
  return nullptr;
}
abi::Error* buffer_destroy(abi::BufferCall* call) {
  --runs.buffers;
  delete reinterpret_cast<char*>(call->buffer);
  return nullptr;
}
abi::Error* execute(abi::Execute* call) {
  call->outputs[0][0] = new_buffer();
  ++runs.events;
  *call->done = reinterpret_cast<abi::Event*>(new char);
  ++runs.begun;
  return nullptr;
}
abi::Error* event_destroy(abi::EventCall* call) {
  --runs.events;
  delete reinterpret_cast<char*>(call->event);
  return nullptr;
}
abi::Error* event_is_ready(abi::EventIsReady* call) {
  call->is_ready = !runs.are_held;
  return nullptr;
}
abi::Error* event_await(abi::EventCall*) {
  while (runs.are_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return nullptr;
}
abi::Error* event_on_ready(abi::EventOnReady* call) {
  std::thread([callback = call->callback, context = call->context] {
    event_await(nullptr);
    callback(nullptr, context);
  }).detach();
  return nullptr;
}

// The last function that a plugin must have.
abi::Error* to_host(abi::BufferToHost*) { return fail(12, "there are no values"); }

void fill() {
  table.version = abi::Version();
  table.version.size = sizeof(abi::Version);
  table.version.major = fake.major;
  table.version.minor = fake.minor;
  table.error_destroy = error_destroy;
  table.error_message = error_message;
  table.error_code = error_code;
  table.plugin_initialize = plugin_initialize;
  table.plugin_attributes = plugin_attributes;
  table.client_create = client_create;
  table.client_destroy = client_destroy;
  table.client_platform_name = platform_name;
  table.client_platform_version = platform_version;
  table.client_addressable_devices = addressable_devices;
  table.device_get_description = get_description;
  table.description_id = description_id;
  table.description_kind = description_kind;
  table.description_attributes = description_attributes;
  table.device_memory_stats = memory_stats;
  table.client_compile = client_compile;
  table.client_buffer_from_host = fake.can_run ? buffer_from_host : nullptr;
  table.buffer_destroy = fake.can_run ? buffer_destroy : nullptr;
  table.execute = fake.can_run ? execute : nullptr;
  table.event_destroy = fake.can_run ? event_destroy : nullptr;
  table.event_is_ready = fake.can_run ? event_is_ready : nullptr;
  table.event_await = fake.can_run ? event_await : nullptr;
  table.event_on_ready = fake.can_run && fake.has_on_ready ? event_on_ready : nullptr;
  table.loaded_executable_destroy = executable_destroy;
  table.loaded_executable_get_executable = get_executable;
  table.executable_destroy = destroy_executable;
  table.executable_serialize = serialize;
  table.deserialize_and_load = deserialize;
  table.buffer_to_host = to_host;
  table.size = fake.api_size == 0 ? sizeof(abi::Api) : fake.api_size;
}

}  // namespace
}  // namespace alate::xla

extern "C" {
[[gnu::visibility("default")]] const alate::xla::abi::Api* GetPjrtApi() {
  alate::xla::fill();
  return &alate::xla::table;
}
[[gnu::visibility("default")]] alate::xla::FakePlugin* alate_fake_plugin() { return &alate::xla::fake; }
[[gnu::visibility("default")]] alate::xla::FakeRuns* alate_fake_runs() { return &alate::xla::runs; }
}
