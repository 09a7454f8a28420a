// A plugin's client: the connection to one device, and what lives there.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "backends/xla/plugin.h"

namespace alate::xla {

/// Values on the device. Destroyed with the last that holds it.
using DeviceBuffer = std::shared_ptr<abi::Buffer>;
/// A compiled program, loaded on the device.
using Program = std::shared_ptr<abi::LoadedExecutable>;

struct MemoryUse {
  std::size_t limit = 0, used = 0;
};

/// Thread-safe. Programs and buffers keep it alive.
class Client : public std::enable_shared_from_this<Client> {
 public:
  /// Throws unavailable where the plugin finds no device.
  static std::shared_ptr<Client> create(std::shared_ptr<const Plugin> plugin);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  std::string platform() const;     // "cpu"
  std::string device_kind() const;  // "cpu", "NVIDIA H100"
  /// Nothing where the plugin does not know.
  std::optional<MemoryUse> memory() const;

  /// A program in textual StableHLO. Throws with the compiler's message.
  Program compile(std::string_view module) const;
  DeviceBuffer upload(const Tensor& tensor) const;
  /// Waits for the values.
  Tensor download(const DeviceBuffer& buffer) const;
  /// Waits until the run is done; no argument is given away.
  std::vector<DeviceBuffer> run(const Program& program, std::span<const DeviceBuffer> arguments,
                                std::size_t outputs) const;

 private:
  Client(std::shared_ptr<const Plugin> plugin, abi::Client* client) : plugin_(std::move(plugin)), client_(client) {}

  void await(abi::Event* event, std::string_view what) const;
  DeviceBuffer owned(abi::Buffer* buffer) const;

  std::shared_ptr<const Plugin> plugin_;
  abi::Client* client_;
  abi::Device* device_ = nullptr;
};

}  // namespace alate::xla
