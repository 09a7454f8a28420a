#include "backends/xla/client.h"

#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "tensor/packed.h"

namespace alate::xla {
namespace {

constexpr std::string_view kFormat = "mlir";
// CompileOptionsProto with one replica of one partition.
constexpr char kOptions[] = {0x1a, 0x04, 0x20, 0x01, 0x28, 0x01};

}  // namespace

std::shared_ptr<Client> Client::create(std::shared_ptr<const Plugin> plugin) {
  // Processors are four devices unless told otherwise; plugins for other devices do not know the option.
  abi::NamedValue one_device;
  constexpr std::string_view kName = "cpu_device_count";
  one_device.name = kName.data();
  one_device.name_size = kName.size();
  one_device.kind = abi::ValueKind::integer;
  one_device.integer = 1;
  abi::ClientCreate create;
  create.options = &one_device;
  create.option_count = 1;
  if (!plugin->try_call(&abi::Api::client_create, create)) {
    create = abi::ClientCreate();
    plugin->call(&abi::Api::client_create, create, "starting the XLA plugin " + plugin->path().string());
  }
  std::shared_ptr<Client> client(new Client(plugin, create.client));
  abi::ClientDevices devices;
  devices.client = create.client;
  plugin->call(&abi::Api::client_addressable_devices, devices, "listing XLA's devices");
  if (devices.device_count == 0)
    throw make_error(ErrorCode::unavailable, "the XLA plugin ", plugin->path().string(), " finds no device");
  client->device_ = devices.devices[0];
  return client;
}

Client::~Client() {
  abi::ClientDestroy destroy;
  destroy.client = client_;
  plugin_->try_call(&abi::Api::client_destroy, destroy);
}

std::string Client::platform() const {
  abi::ClientText text;
  text.client = client_;
  plugin_->call(&abi::Api::client_platform_name, text, "asking XLA's platform");
  return {text.text, text.text_size};
}

std::string Client::device_kind() const {
  abi::DeviceGetDescription description;
  description.device = device_;
  plugin_->call(&abi::Api::device_get_description, description, "asking for XLA's device");
  abi::DescriptionText kind;
  kind.description = description.description;
  plugin_->call(&abi::Api::description_kind, kind, "asking for XLA's device");
  return {kind.text, kind.text_size};
}

std::optional<MemoryUse> Client::memory() const {
  abi::DeviceMemoryStats stats;
  stats.device = device_;
  if (!plugin_->try_call(&abi::Api::device_memory_stats, stats) || !stats.limit.is_set) return std::nullopt;
  return MemoryUse{static_cast<std::size_t>(stats.limit.value), static_cast<std::size_t>(stats.bytes_in_use)};
}

Program Client::compile(std::string_view module) const {
  std::string code(module);
  abi::Program program;
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  abi::ClientCompile compile;
  compile.client = client_;
  compile.program = &program;
  compile.options = kOptions;
  compile.options_size = sizeof kOptions;
  plugin_->call(&abi::Api::client_compile, compile, "compiling for xla");
  return {compile.executable, [client = shared_from_this()](abi::LoadedExecutable* executable) {
            abi::LoadedExecutableCall destroy;
            destroy.executable = executable;
            client->plugin_->try_call(&abi::Api::loaded_executable_destroy, destroy);
          }};
}

DeviceBuffer Client::owned(abi::Buffer* buffer) const {
  return {buffer, [client = shared_from_this()](abi::Buffer* owned) {
            abi::BufferCall destroy;
            destroy.buffer = owned;
            client->plugin_->try_call(&abi::Api::buffer_destroy, destroy);
          }};
}

void Client::await(abi::Event* event, std::string_view what) const {
  if (event == nullptr) return;
  abi::EventCall call;
  call.event = event;
  struct Destroyer {
    const Plugin& plugin;
    abi::Event* event;
    ~Destroyer() {
      abi::EventCall destroy;
      destroy.event = event;
      plugin.try_call(&abi::Api::event_destroy, destroy);
    }
  } destroyer{*plugin_, event};
  plugin_->call(&abi::Api::event_await, call, what);
}

// Elements of fewer than eight bits have bytes of their own where they are handed over.
DeviceBuffer Client::upload(const Tensor& packed) const {
  const Tensor tensor = tensor::is_packed(packed.dtype()) ? tensor::unpacked(packed) : packed;
  std::vector<std::int64_t> dims;
  for (const Dim dim : tensor.shape().dims) dims.push_back(dim.number());
  abi::BufferFromHost from;
  from.client = client_;
  from.data = tensor.bytes().data();
  from.type = static_cast<int>(packed.dtype());  // their numbers are ours
  from.dims = dims.data();
  from.rank = dims.size();
  from.device = device_;
  plugin_->call(&abi::Api::client_buffer_from_host, from, "uploading to xla");
  DeviceBuffer buffer = owned(from.buffer);
  await(from.done, "uploading to xla");
  return buffer;
}

Tensor Client::download(const DeviceBuffer& buffer) const {
  abi::BufferType type;
  type.buffer = buffer.get();
  plugin_->call(&abi::Api::buffer_element_type, type, "asking for the type of xla's result");
  abi::BufferDims dims;
  dims.buffer = buffer.get();
  plugin_->call(&abi::Api::buffer_dims, dims, "asking for the shape of xla's result");
  Shape shape{static_cast<DType>(type.type), {}};
  for (std::size_t i = 0; i < dims.rank; ++i) shape.dims.emplace_back(dims.dims[i]);
  const bool is_packed = tensor::is_packed(shape.dtype);
  Tensor tensor = Tensor::uninitialized({tensor::carrier_of(shape.dtype), shape.dims});
  abi::BufferToHost to;
  to.buffer = buffer.get();
  to.to = tensor.mutable_bytes().data();
  to.size = tensor.byte_count();
  if (tensor.byte_count() > 0) {
    plugin_->call(&abi::Api::buffer_to_host, to, "downloading from xla");
    await(to.done, "downloading from xla");
  }
  return is_packed ? tensor::packed(tensor, shape.dtype) : tensor;
}

std::vector<DeviceBuffer> Client::run(const Program& program, std::span<const DeviceBuffer> arguments,
                                      std::size_t outputs) const {
  std::vector<abi::Buffer*> given, made(outputs);
  std::vector<std::int64_t> kept;
  for (const DeviceBuffer& argument : arguments) {
    kept.push_back(static_cast<std::int64_t>(given.size()));
    given.push_back(argument.get());
  }
  abi::ExecuteOptions options;
  options.kept_inputs = kept.data();
  options.kept_input_count = kept.size();
  abi::Buffer* const* argument_list = given.data();
  abi::Buffer** output_list = made.data();
  abi::Event* done = nullptr;
  abi::Execute execute;
  execute.executable = program.get();
  execute.options = &options;
  execute.arguments = &argument_list;
  execute.argument_count = given.size();
  execute.outputs = &output_list;
  execute.done = &done;
  plugin_->call(&abi::Api::execute, execute, "running on xla");
  std::vector<DeviceBuffer> results;
  for (abi::Buffer* buffer : made) results.push_back(owned(buffer));
  await(done, "running on xla");
  return results;
}

}  // namespace alate::xla
