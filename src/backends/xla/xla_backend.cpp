#include "backends/xla/xla_backend.h"

#include <mutex>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/spelling.h"
#include "backends/xla/executable.h"
#include "backends/xla/plugin_search.h"
#include "exchange/stablehlo.h"
#include "graph/decompose.h"

namespace alate::xla {
namespace {

using backends::Buffer;
using backends::Device;
using backends::Support;

Support support_of(const graph::Graph& graph, const graph::Node& node) {
  const exchange::StableHloSupport support = exchange::supports_stablehlo(graph, node);
  return {.native = support.is_supported(), .spelling = support.spelling, .reason = support.reason};
}

class XlaBackend final : public backends::Backend {
 public:
  std::string_view name() const override { return "xla"; }

  std::vector<Device> devices() override {
    Device device{.backend = "xla", .name = "cpu", .description = "XLA"};
    try {
      const std::shared_ptr<const Client> client = this->client();
      device.description = client->device_kind() + " through " + client->plugin().path().filename().string() +
                           ", PJRT 0." + std::to_string(client->plugin().version().minor);
      if (client->platform() == "cpu") {
        Device host = backends::host_device("xla", device.description);
        return {host};
      }
      if (const std::optional<MemoryUse> memory = client->memory()) {
        device.total_bytes = memory->limit;
        device.free_bytes = memory->limit - std::min(memory->limit, memory->used);
      }
    } catch (const Error& error) {
      device.unusable = error.message();
    }
    return {device};
  }

  backends::LibrarySearch libraries() const override { return find_plugins(); }
  void use_library(const std::filesystem::path& file) override {
    const std::lock_guard lock(mutex_);
    chosen_ = file;
  }

  Support supports(const graph::Graph& graph, const graph::Node& node, const Device&) const override {
    return support_of(graph, node);
  }

  std::unique_ptr<backends::Executable> compile(const graph::Graph& graph,
                                                const backends::CompileOptions& options) override {
    const graph::IsNative is_native = [](const graph::Graph& g, const graph::Node& node) {
      return support_of(g, node).native;
    };
    graph::PassPipeline pipeline = graph::standard_passes({.is_native = is_native});
    pipeline.push_back({"decompose", [&](const graph::Graph& g) { return graph::decompose(g, is_native); }});
    pipeline.push_back({"fold_constants", graph::fold_constants});
    pipeline.push_back({"eliminate_dead_nodes", graph::eliminate_dead_nodes});
    graph::PassWatcher watcher;
    if (options.dump != nullptr) {
      options.dump->write("input", graph);
      watcher = [&](std::string_view pass, const graph::Graph& after) { options.dump->write(pass, after); };
    }
    graph::Graph optimized = graph::run_passes(graph, pipeline, options.log, watcher);
    backends::require_native(name(), optimized, support_of);
    return std::make_unique<XlaExecutable>(std::move(optimized), client());
  }

  Buffer upload(const Tensor& tensor, const Device&) override { return {tensor.shape(), client()->upload(tensor)}; }
  Tensor download(const Buffer& buffer) override {
    if (buffer.host() != nullptr) return *buffer.host();
    return client()->download(std::static_pointer_cast<abi::Buffer>(buffer.device_memory()));
  }

 private:
  std::shared_ptr<const Client> client() {
    const std::lock_guard lock(mutex_);
    if (client_ != nullptr) return client_;
    if (!chosen_.empty()) return client_ = Client::create(Plugin::open(chosen_));
    const backends::LibrarySearch search = find_plugins();
    if (search.found.empty())
      throw make_error(ErrorCode::unavailable, "no PJRT plugin was found in ", search.looked_in,
                       ": set PJRT_PLUGIN_LIBRARY_PATH to a folder that has one, for example pjrt_c_api_cpu_plugin.so");
    client_ = Client::create(Plugin::open(search.found.front()));
    return client_;
  }

  std::mutex mutex_;
  std::filesystem::path chosen_;
  std::shared_ptr<const Client> client_;
};

}  // namespace

backends::Backend& xla_backend() {
  static XlaBackend backend;
  return backend;
}

}  // namespace alate::xla
