// The part of PJRT's C interface that is used here, in declarations of our own: a table of functions that only grows,
// each of which takes one struct that begins with its own size. Entries that an older plugin lacks lie beyond its
// table's `size`. Source: the interface as published with OpenXLA, version 0.83; checked against plugins of 0.81 and
// 0.115.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::xla::abi {

// Opaque types, owned by the plugin.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Executable;
struct LoadedExecutable;
struct SerializedExecutable;
struct Buffer;

/// The beginning of every struct. `Derived` sets its own size, as the interface requires.
struct Header {
  std::size_t size;
  void* extensions = nullptr;
};
template <typename Derived>
struct Sized : Header {
  Sized() : Header{sizeof(Derived)} {}
};

struct Version : Header {
  int major, minor;
};

struct ErrorDestroy : Sized<ErrorDestroy> {
  Error* error = nullptr;
};
struct ErrorMessage : Sized<ErrorMessage> {
  const Error* error = nullptr;
  const char* message = nullptr;
  std::size_t message_size = 0;
};
struct ErrorCode : Sized<ErrorCode> {
  const Error* error = nullptr;
  int code = 0;
};
struct PluginInitialize : Sized<PluginInitialize> {};
struct NamedValue;
struct PluginAttributes : Sized<PluginAttributes> {  // they live as long as the process
  const NamedValue* attributes = nullptr;
  std::size_t count = 0;
};
struct EventIsReady : Sized<EventIsReady> {
  Event* event = nullptr;
  bool is_ready = false;
};
struct EventCall : Sized<EventCall> {  // of destroy and await
  Event* event = nullptr;
};
struct EventOnReady : Sized<EventOnReady> {
  Event* event = nullptr;
  void (*callback)(Error* error, void* context) = nullptr;  // once, from any thread; the callee destroys the error
  void* context = nullptr;
};

enum class ValueKind : int { string, integer, integers, number, boolean };
struct NamedValue : Sized<NamedValue> {
  const char* name = nullptr;
  std::size_t name_size = 0;
  ValueKind kind = ValueKind::string;
  union {
    const char* string;
    std::int64_t integer = 0;
    const std::int64_t* integers;
    float number;
    bool boolean;
  };
  std::size_t value_size = 1;
};

struct ClientCreate : Sized<ClientCreate> {
  const NamedValue* options = nullptr;
  std::size_t option_count = 0;
  void* get = nullptr;  // of key-value stores between processes
  void* get_context = nullptr;
  void* put = nullptr;
  void* put_context = nullptr;
  Client* client = nullptr;
  void* try_get = nullptr;
  void* try_get_context = nullptr;
};
struct ClientDestroy : Sized<ClientDestroy> {
  Client* client = nullptr;
};
struct ClientText : Sized<ClientText> {  // platform name and version
  Client* client = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
struct ClientDevices : Sized<ClientDevices> {
  Client* client = nullptr;
  Device* const* devices = nullptr;
  std::size_t device_count = 0;
};
struct DeviceGetDescription : Sized<DeviceGetDescription> {
  Device* device = nullptr;
  DeviceDescription* description = nullptr;
};
struct DescriptionId : Sized<DescriptionId> {
  DeviceDescription* description = nullptr;
  int id = 0;
};
struct DescriptionAttributes : Sized<DescriptionAttributes> {
  DeviceDescription* description = nullptr;
  std::size_t count = 0;
  const NamedValue* attributes = nullptr;
};
struct DescriptionText : Sized<DescriptionText> {  // kind
  DeviceDescription* description = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
struct DeviceMemoryStats : Sized<DeviceMemoryStats> {
  Device* device = nullptr;
  std::int64_t bytes_in_use = 0;
  struct Optional {
    std::int64_t value = 0;
    bool is_set = false;
  };
  Optional peak_bytes_in_use, allocations, largest_allocation, limit, reserved, peak_reserved, reservable_limit,
      largest_free_block, pool, peak_pool;
};

struct Program : Sized<Program> {
  char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};
struct ClientCompile : Sized<ClientCompile> {
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* options = nullptr;  // CompileOptionsProto
  std::size_t options_size = 0;
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableCall : Sized<LoadedExecutableCall> {
  LoadedExecutable* executable = nullptr;
};
struct GetExecutable : Sized<GetExecutable> {
  LoadedExecutable* loaded = nullptr;
  Executable* executable = nullptr;
};
struct ExecutableDestroy : Sized<ExecutableDestroy> {
  Executable* executable = nullptr;
};
struct ExecutableSerialize : Sized<ExecutableSerialize> {
  const Executable* executable = nullptr;
  const char* bytes = nullptr;
  std::size_t byte_count = 0;
  SerializedExecutable* owner = nullptr;
  void (*destroy)(SerializedExecutable*) = nullptr;
};
struct ExecutableMemory : Sized<ExecutableMemory> {  // bytes in the device's memory, then in the host's
  Executable* executable = nullptr;
  std::int64_t code = 0, arguments = 0, outputs = 0, aliased = 0, temporary = 0;
  std::int64_t host_code = 0, host_arguments = 0, host_outputs = 0, host_aliased = 0, host_temporary = 0;
  std::int64_t peak = 0, total = 0;
};
struct DeserializeAndLoad : Sized<DeserializeAndLoad> {
  Client* client = nullptr;
  const char* bytes = nullptr;
  std::size_t byte_count = 0;
  LoadedExecutable* executable = nullptr;
  const char* other_options = nullptr;
  std::size_t other_options_size = 0;
};

enum class HostBuffer : int { only_during_call, until_transferred, zero_copy, mutable_zero_copy };
struct BufferFromHost : Sized<BufferFromHost> {
  Client* client = nullptr;
  const void* data = nullptr;
  int type = 0;
  const std::int64_t* dims = nullptr;
  std::size_t rank = 0;
  const std::int64_t* byte_strides = nullptr;
  std::size_t stride_count = 0;
  HostBuffer semantics = HostBuffer::only_during_call;
  Device* device = nullptr;
  Memory* memory = nullptr;
  void* layout = nullptr;
  Event* done = nullptr;
  Buffer* buffer = nullptr;
};
struct BufferCall : Sized<BufferCall> {
  Buffer* buffer = nullptr;
};
struct BufferType : Sized<BufferType> {
  Buffer* buffer = nullptr;
  int type = 0;
};
struct BufferDims : Sized<BufferDims> {
  Buffer* buffer = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t rank = 0;
};
struct BufferPointer : Sized<BufferPointer> {
  Buffer* buffer = nullptr;
  std::uintptr_t address = 0;
};
struct BufferToHost : Sized<BufferToHost> {
  Buffer* buffer = nullptr;
  void* layout = nullptr;
  void* to = nullptr;  // null: only asks for the size
  std::size_t size = 0;
  Event* done = nullptr;
};

struct ExecuteOptions : Sized<ExecuteOptions> {
  void* send_callbacks = nullptr;
  void* receive_callbacks = nullptr;
  std::size_t send_count = 0, receive_count = 0;
  int launch_id = 0;
  const std::int64_t* kept_inputs = nullptr;  // not donated, whatever the program says
  std::size_t kept_input_count = 0;
  void* context = nullptr;
  const char* call_location = nullptr;
  std::size_t task_count = 0;
  int* task_ids = nullptr;
  std::int64_t* incarnation_ids = nullptr;
};
struct Execute : Sized<Execute> {
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* arguments = nullptr;  // [device][argument]
  std::size_t device_count = 1, argument_count = 0;
  Buffer** const* outputs = nullptr;  // [device][output]
  Event** done = nullptr;             // [device]
  Device* device = nullptr;
};

template <typename Arguments>
using Function = Error* (*)(Arguments*);
using Unused = void (*)();

/// The table. Entries that are not used have no type.
struct Api : Header {
  Version version;
  void (*error_destroy)(ErrorDestroy*);
  void (*error_message)(ErrorMessage*);
  Function<ErrorCode> error_code;
  Function<PluginInitialize> plugin_initialize;
  Function<PluginAttributes> plugin_attributes;
  Function<EventCall> event_destroy;
  Function<EventIsReady> event_is_ready;
  Unused event_error;
  Function<EventCall> event_await;
  Function<EventOnReady> event_on_ready;
  Function<ClientCreate> client_create;
  Function<ClientDestroy> client_destroy;
  Function<ClientText> client_platform_name;
  Unused client_process_index;
  Function<ClientText> client_platform_version;
  Unused client_devices;
  Function<ClientDevices> client_addressable_devices;
  Unused client_lookup_device, client_lookup_addressable_device, client_addressable_memories;
  Function<ClientCompile> client_compile;
  Unused client_default_device_assignment;
  Function<BufferFromHost> client_buffer_from_host;
  Function<DescriptionId> description_id;
  Unused description_process_index;
  Function<DescriptionAttributes> description_attributes;
  Function<DescriptionText> description_kind;
  Unused description_debug_string, description_to_string;
  Function<DeviceGetDescription> device_get_description;
  Unused device_is_addressable, device_local_hardware_id, device_addressable_memories, device_default_memory;
  Function<DeviceMemoryStats> device_memory_stats;
  Unused memory_id, memory_kind, memory_debug_string, memory_to_string, memory_addressable_by_devices;
  Function<ExecutableDestroy> executable_destroy;
  Unused executable_name, executable_replicas, executable_partitions, executable_outputs, executable_code_size,
      executable_cost, executable_output_memory_kinds, executable_optimized_program;
  Function<ExecutableSerialize> executable_serialize;
  Function<LoadedExecutableCall> loaded_executable_destroy;
  Function<GetExecutable> loaded_executable_get_executable;
  Unused loaded_executable_devices, loaded_executable_delete, loaded_executable_is_deleted;
  Function<Execute> execute;
  Function<DeserializeAndLoad> deserialize_and_load;
  Unused loaded_executable_fingerprint;
  Function<BufferCall> buffer_destroy;
  Function<BufferType> buffer_element_type;
  Function<BufferDims> buffer_dims;
  Unused buffer_unpadded_dims, buffer_dynamic_dims, buffer_layout, buffer_device_size, buffer_device, buffer_memory,
      buffer_delete, buffer_is_deleted, buffer_copy_to_device;
  Function<BufferToHost> buffer_to_host;
  Unused buffer_is_on_cpu, buffer_ready_event;
  Function<BufferPointer> buffer_unsafe_pointer;
  Unused buffer_increase_references, buffer_decrease_references, buffer_opaque_pointer, copy_stream_destroy,
      copy_stream_add_chunk, copy_stream_total_bytes, copy_stream_granule_size, copy_stream_current_bytes;
  Unused topology_create, topology_destroy, topology_platform_name, topology_platform_version, topology_descriptions,
      topology_serialize, topology_attributes, compile;
  Unused executable_output_types, executable_output_dims, buffer_copy_to_memory, client_create_view,
      executable_fingerprint, client_topology;
  Function<ExecutableMemory> executable_memory;
};

/// Exported by every plugin under the name "GetPjrtApi".
using GetApi = const Api* (*)();

}  // namespace alate::xla::abi
