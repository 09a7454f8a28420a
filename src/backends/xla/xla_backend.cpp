#include "backends/xla/xla_backend.h"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "alate/error.h"
#include "backends/donation.h"
#include "backends/host_buffers.h"
#include "backends/lowering.h"
#include "backends/xla/abandoned_run.h"
#include "backends/xla/device_listing.h"
#include "backends/xla/executable.h"
#include "backends/xla/plugin_search.h"
#include "base/threads/mutex.h"
#include "exchange/stablehlo.h"

namespace alate::xla {
namespace {

using backends::Buffer;
using backends::Device;
using backends::Support;

Support support_of(const graph::Graph& graph, const graph::Node& node) {
  const exchange::StableHloSupport support = exchange::supports_stablehlo(graph, node);
  return {.native = support.is_supported(), .spelling = support.spelling, .reason = support.reason};
}

std::size_t with_abandoned(std::size_t bytes) {
  constexpr std::size_t kRuns = 1 + AbandonedRun::kMost;
  return bytes > SIZE_MAX / kRuns ? SIZE_MAX : bytes * kRuns;
}

class XlaBackend final : public backends::Backend {
 public:
  std::string_view name() const override { return "xla"; }

  std::vector<Device> devices() override {
    try {
      return list_devices(*client());
    } catch (const Error& error) {
      return {{.backend = "xla", .name = "cpu", .description = "XLA", .unusable = error.message()}};
    }
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
    const graph::Graph lowered = backends::lower(name(), graph, options, support_of);
    const std::shared_ptr<const Client> client = this->client();
    const std::size_t device = find_device(*client, options.device);
    std::optional<CompileCache> cache;
    if (!options.cache_folder.empty()) cache.emplace(options.cache_folder / "xla");
    auto source = std::make_shared<ProgramSource>(client, device, options.session_options, std::move(cache));
    auto executable = std::make_unique<XlaExecutable>(
        lowered, std::move(source), options.weights ? options.weights : std::make_shared<backends::WeightStore>());
    executable->compile_aliases();
    backends::require_small_copies(name(), lowered, executable->facts().aliases, options);
    return executable;
  }

  // An abandoned run may be on the device beside the next one.
  std::vector<backends::MemoryNeeds> memory_needs(const graph::Graph& graph,
                                                  std::span<const backends::DimSettings> runs) const override {
    std::vector<backends::MemoryNeeds> needs = Backend::memory_needs(graph, runs);
    for (backends::MemoryNeeds& each : needs) {
      for (std::size_t* bytes : {&each.activations, &each.inputs, &each.outputs}) *bytes = with_abandoned(*bytes);
    }
    return needs;
  }

  Buffer upload(const Tensor& tensor, const Device& device) override {
    const std::shared_ptr<const Client> client = this->client();
    const auto index = static_cast<std::size_t>(std::max(device.index, 0));
    if (index >= client->device_count())
      throw make_error(ErrorCode::invalid_argument, "xla has no device ", device.index, ": it has ",
                       client->device_count());
    return {tensor.shape(), client->upload(tensor, index)};
  }
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

  base::Mutex mutex_;
  std::filesystem::path chosen_;
  std::shared_ptr<const Client> client_;
};

}  // namespace

backends::Backend& xla_backend() {
  static XlaBackend backend;
  return backend;
}

}  // namespace alate::xla
