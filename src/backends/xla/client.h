// A plugin's client: the connection to its devices, with their programs and buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tensor.h"
#include "backends/xla/compile_options.h"
#include "backends/xla/plugin.h"

namespace alate::xla {

class Execution;

/// A buffer on a device. Destroyed with its last holder.
using DeviceBuffer = std::shared_ptr<abi::Buffer>;
/// A compiled program, loaded on a device.
using Program = std::shared_ptr<abi::LoadedExecutable>;

struct MemoryUse {
  std::size_t limit = 0, used = 0;
};

/// What a run of a program takes on its device, as its compiler counted it.
struct ProgramMemory {
  std::size_t aliased = 0;    // bytes of arguments that results are written over, where they are donated
  std::size_t temporary = 0;  // bytes of intermediate values, copies of arguments among them
};

/// A device of the plugin.
struct DeviceFacts {
  std::int64_t id = 0;
  std::string kind = {};                // "cpu", "NVIDIA H100"
  std::string compute_capability = {};  // empty where there is none
};

struct ClientOptions {
  std::int64_t processors = 1;  // number of devices that a processor plugin presents
};

/// How the values of a host tensor reach a device.
enum class Transfer {
  copied,    // the tensor may change after the call
  borrowed,  // kept alive and read in place as long as the buffer lives, where the device can read it there
};

/// Thread-safe. Programs and buffers keep it alive. Devices are numbered from 0.
class Client : public std::enable_shared_from_this<Client> {
 public:
  /// Throws unavailable where the plugin finds no device.
  static std::shared_ptr<Client> create(const std::shared_ptr<const Plugin>& plugin, const ClientOptions& options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const { return *plugin_; }
  std::string platform() const;          // "cpu", "cuda", "tpu"
  std::string platform_version() const;  // "cuda 12040"; may be empty
  std::size_t device_count() const { return devices_.size(); }
  DeviceFacts describe(std::size_t device) const;
  /// Empty where the plugin does not know.
  std::optional<MemoryUse> memory(std::size_t device) const;

  /// The serialized options that compile and load pass to the plugin.
  std::string options_for(std::size_t device, const Settings& settings) const;
  /// A program in textual StableHLO. Throws with the compiler's message.
  Program compile(std::string_view module, const std::string& options) const;
  /// The program as bytes that only this very plugin can load; empty where the plugin cannot serialize.
  std::optional<std::string> serialize(const Program& program) const;
  /// Null where the plugin refuses the bytes.
  Program load(std::string_view bytes, const std::string& options) const;

  /// Empty where the plugin does not know.
  std::optional<ProgramMemory> memory_of(const Program& program) const;

  DeviceBuffer upload(const Tensor& tensor, std::size_t device, Transfer transfer = Transfer::copied) const;
  /// Waits for the values.
  Tensor download(const DeviceBuffer& buffer) const;
  /// The same into an existing tensor. Throws invalid_argument where the shapes differ.
  void download_into(const DeviceBuffer& buffer, Tensor& tensor) const;
  /// Where the device has the values; 0 where the plugin does not tell.
  std::uintptr_t address_of(const DeviceBuffer& buffer) const;

  struct Argument {
    DeviceBuffer buffer;
    bool is_donated = false;  // donated: the program may write results over it, after which it has no values
  };
  /// Begins a run.
  std::unique_ptr<Execution> start(Program program, std::vector<Argument> arguments, std::size_t outputs) const;

 private:
  friend class Execution;

  Client(std::shared_ptr<const Plugin> plugin, abi::Client* client) : plugin_(std::move(plugin)), client_(client) {}

  abi::DeviceDescription* description(std::size_t device) const;
  void await(abi::Event* event, std::string_view what) const;
  void destroy(abi::Event* event) const;
  bool is_ready(abi::Event* event) const;
  Shape shape_of(const DeviceBuffer& buffer) const;
  void read(const DeviceBuffer& buffer, std::span<std::byte> to) const;
  DeviceBuffer owned(abi::Buffer* buffer) const;
  Program owned(abi::LoadedExecutable* executable) const;

  std::shared_ptr<const Plugin> plugin_;
  abi::Client* client_;
  std::vector<abi::Device*> devices_;
};

}  // namespace alate::xla
