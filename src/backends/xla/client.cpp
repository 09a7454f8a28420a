#include "backends/xla/client.h"

#include "alate/error.h"

namespace alate::xla {
namespace {

std::string text_of(const char* text, std::size_t size) {
  return text == nullptr ? std::string() : std::string(text, size);
}

abi::NamedValue integer_option(std::string_view name, std::int64_t value) {
  abi::NamedValue option;
  option.name = name.data();
  option.name_size = name.size();
  option.kind = abi::ValueKind::integer;
  option.integer = value;
  return option;
}

}  // namespace

std::shared_ptr<Client> Client::create(const std::shared_ptr<const Plugin>& plugin, const ClientOptions& options) {
  // A processor plugin presents four devices by default; plugins for other devices do not know the option.
  const abi::NamedValue processors = integer_option("cpu_device_count", options.processors);
  abi::ClientCreate create;
  create.options = &processors;
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
  client->devices_.assign(devices.devices, devices.devices + devices.device_count);
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
  return text_of(text.text, text.text_size);
}

std::string Client::platform_version() const {
  abi::ClientText text;
  text.client = client_;
  return plugin_->try_call(&abi::Api::client_platform_version, text) ? text_of(text.text, text.text_size) : "";
}

abi::DeviceDescription* Client::description(std::size_t device) const {
  abi::DeviceGetDescription call;
  call.device = devices_.at(device);
  plugin_->call(&abi::Api::device_get_description, call, "asking for XLA's device");
  return call.description;
}

DeviceFacts Client::describe(std::size_t device) const {
  DeviceFacts facts;
  abi::DescriptionId id;
  id.description = description(device);
  plugin_->call(&abi::Api::description_id, id, "asking for XLA's device");
  facts.id = id.id;
  abi::DescriptionText kind;
  kind.description = id.description;
  plugin_->call(&abi::Api::description_kind, kind, "asking for XLA's device");
  facts.kind = text_of(kind.text, kind.text_size);
  abi::DescriptionAttributes attributes;
  attributes.description = id.description;
  if (!plugin_->try_call(&abi::Api::description_attributes, attributes)) return facts;
  for (const abi::NamedValue& value : std::span(attributes.attributes, attributes.count)) {
    if (value.kind == abi::ValueKind::string && text_of(value.name, value.name_size) == "compute_capability")
      facts.compute_capability = text_of(value.string, value.value_size);
  }
  return facts;
}

// A device without such counters answers with an error (unimplemented, 12).
std::optional<MemoryUse> Client::memory(std::size_t device) const {
  abi::DeviceMemoryStats stats;
  stats.device = devices_.at(device);
  if (!plugin_->try_call(&abi::Api::device_memory_stats, stats) || !stats.limit.is_set) return std::nullopt;
  return MemoryUse{static_cast<std::size_t>(stats.limit.value), static_cast<std::size_t>(stats.bytes_in_use)};
}

void Client::destroy(abi::Event* event) const {
  abi::EventCall destroy;
  destroy.event = event;
  plugin_->try_call(&abi::Api::event_destroy, destroy);
}

bool Client::is_ready(abi::Event* event) const {
  abi::EventIsReady ask;
  ask.event = event;
  return plugin_->try_call(&abi::Api::event_is_ready, ask) && ask.is_ready;
}

void Client::await(abi::Event* event, std::string_view what) const {
  if (event == nullptr) return;
  abi::EventCall call;
  call.event = event;
  struct Destroyer {
    const Client& client;
    abi::Event* event;
    ~Destroyer() { client.destroy(event); }
  } destroyer{*this, event};
  plugin_->call(&abi::Api::event_await, call, what);
}

}  // namespace alate::xla
