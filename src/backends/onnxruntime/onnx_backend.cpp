#include "backends/onnxruntime/onnx_backend.h"

#include <array>
#include <mutex>
#include <set>
#include <string>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/lowering.h"
#include "backends/onnxruntime/compile_graph.h"
#include "backends/onnxruntime/devices.h"
#include "backends/onnxruntime/open_file.h"
#include "base/libraries/library_folders.h"
#include "base/threads/mutex.h"
#include "exchange/onnx_writer.h"

namespace alate::onnxruntime {
namespace {

using backends::Buffer;
using backends::Device;
using backends::Support;

class OnnxBackend final : public backends::Backend {
 public:
  std::string_view name() const override { return "onnx"; }

  std::vector<Device> devices() override {
    try {
      return tried_devices()->list();
    } catch (const Error& error) {
      return {Device{.backend = "onnx",
                     .name = "cpu",
                     .description = "ONNX Runtime",
                     .unusable = error.message(),
                     .remedy = "alate backends install onnx, or set ONNXRUNTIME_ROOT to the folder of an ONNX Runtime "
                               "from 1.14 on"}};
    }
  }

  backends::LibrarySearch libraries() const override { return find_libraries(); }
  void use_library(const std::filesystem::path& file) override {
    const std::lock_guard lock(mutex_);
    chosen_ = file;
  }

  Support supports(const graph::Graph& graph, const graph::Node& node, const Device&) const override {
    return support_of(graph, node);
  }

  std::unique_ptr<backends::Executable> compile(const graph::Graph& graph,
                                                const backends::CompileOptions& options) override {
    const graph::Graph optimized = backends::lower(
        name(), graph, options, [this](const graph::Graph& g, const graph::Node& node) { return support_of(g, node); });
    require_ports(optimized);  // before the library is opened, so that it throws even without one
    return compile_graph(optimized, library(), tried_devices()->choose(options.device), options);
  }

  std::span<const std::string_view> reads_files() const override {
    static constexpr std::array<std::string_view, 2> kExtensions = {".onnx", ".ort"};
    return kExtensions;
  }

  std::unique_ptr<backends::Executable> open(const backends::ModelFile& file,
                                             const backends::CompileOptions& options) override {
    return open_file(file, library(), tried_devices()->choose(options.device), options);
  }

  Buffer upload(const Tensor& tensor, const Device&) override { return tensor; }
  Tensor download(const Buffer& buffer) override { return backends::host_tensor(buffer); }

 private:
  // Spellings are kept as long as the process lives, since the interface returns views.
  Support support_of(const graph::Graph& graph, const graph::Node& node) const {
    exchange::OnnxSupport support = exchange::onnx_support(graph, node, opset());
    if (!support.is_supported) return {.native = false, .spelling = {}, .reason = std::move(support.text)};
    const std::lock_guard lock(mutex_);
    return {.native = true, .spelling = *spellings_.insert(std::move(support.text)).first, .reason = {}};
  }

  int opset() const {
    try {
      return opset_of(*library());
    } catch (const Error&) {
      return exchange::kNewestOnnxOpset;  // assumed without a library, which compiles nothing
    }
  }

  std::shared_ptr<const Library> library() const {
    const std::lock_guard lock(mutex_);
    if (library_ != nullptr) return library_;
    if (!chosen_.empty()) return library_ = Library::open(chosen_);
    const backends::LibrarySearch search = find_libraries();
    if (search.found.empty())
      throw make_error(ErrorCode::unavailable, "ONNX Runtime was not found in ", search.looked_in,
                       ": set ONNXRUNTIME_ROOT to the folder of libonnxruntime.so");
    library_ = Library::open(search.found.front());
    return library_;
  }

  std::shared_ptr<Devices> tried_devices() {
    const std::shared_ptr<const Library> opened = library();
    const std::lock_guard lock(mutex_);
    if (devices_ == nullptr) devices_ = std::make_shared<Devices>(opened, base::own_library_folders());
    return devices_;
  }

  mutable base::Mutex mutex_;
  std::filesystem::path chosen_;
  mutable std::shared_ptr<const Library> library_;
  std::shared_ptr<Devices> devices_;
  mutable std::set<std::string> spellings_;
};

}  // namespace

backends::Backend& onnx_backend() {
  static OnnxBackend backend;
  return backend;
}

}  // namespace alate::onnxruntime
