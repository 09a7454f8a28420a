#include "backends/onnxruntime/compile_graph.h"

#include "alate/error.h"
#include "backends/donation.h"
#include "backends/fold_constant.h"
#include "backends/host_buffers.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/value.h"
#include "base/threads/thread_pool.h"
#include "exchange/onnx_writer.h"

namespace alate::onnxruntime {
namespace {

void require_dtypes(std::string_view what, const std::vector<backends::Port>& ports) {
  for (const backends::Port& port : ports) {
    if (!exchange::has_onnx_values(port.shape.dtype))
      throw make_error(ErrorCode::unsupported, "ONNX Runtime's kernels take no ", to_string(port.shape.dtype), ", and ",
                       what, " '", port.name, "' has it");
  }
}

}  // namespace

int opset_of(const Library& library) {
  constexpr int kVersionOfNewest = 26;
  return library.minor_version() >= kVersionOfNewest ? exchange::kNewestOnnxOpset : exchange::kOldestOnnxOpset;
}

std::size_t threads_of(const backends::CompileOptions& options) {
  return options.max_workers != 0 ? options.max_workers : base::ThreadPool::shared().size();
}

void require_ports(const graph::Graph& graph) {
  require_dtypes("input", backends::input_ports(graph));
  require_dtypes("output", backends::output_ports(graph));
}

std::unique_ptr<OnnxExecutable> compile_graph(const graph::Graph& graph, std::shared_ptr<const Library> library,
                                              const Place& place, const backends::CompileOptions& options) {
  require_ports(graph);
  std::vector<backends::AliasFacts> aliases =
      backends::copied_aliases(graph, "ONNX Runtime writes no result over an input");
  backends::require_small_copies("onnx", graph, aliases, options);
  std::vector<backends::Port> inputs = backends::input_ports(graph), outputs = backends::output_ports(graph);
  exchange::OnnxModel model = exchange::write_onnx(graph, {.opset = opset_of(*library)});
  const OwnedSessionOptions prepared = make_session_options(*library, threads_of(options), options.session_options);
  append_place(*library, prepared.get(), place);
  std::vector<Tensor> constants;
  std::vector<OwnedValue> values;
  std::vector<const abi::Value*> value_pointers;
  std::vector<const char*> names;
  std::size_t weight_bytes = 0;
  for (const exchange::OnnxInitializer& initializer : model.initializers) {
    constants.push_back(options.weights == nullptr ? backends::fold_constant(*initializer.constant)
                                                   : options.weights->value(initializer.constant));
    weight_bytes += constants.back().byte_count();
    values.push_back(value_over(*library, constants.back()));
    value_pointers.push_back(values.back().get());
    names.push_back(initializer.name.c_str());
  }
  if (!names.empty()) {
    library->check<abi::AddExternalInitializers>("giving weights to onnx", prepared.get(), names.data(),
                                                 value_pointers.data(), names.size());
  }
  abi::Session* session = nullptr;
  library->check<abi::CreateSessionFromArray>("compiling for onnx",
                                              static_cast<const abi::Env*>(library->environment()),
                                              static_cast<const void*>(model.bytes.data()), model.bytes.size(),
                                              static_cast<const abi::SessionOptions*>(prepared.get()), &session);
  SessionParts parts{.session = library->own<abi::ReleaseSession>(session),
                     .dims = graph.shared_dims(),
                     .inputs = std::move(inputs),
                     .outputs = std::move(outputs),
                     .input_names = std::move(model.inputs),
                     .output_names = std::move(model.outputs),
                     .constants = std::move(constants),
                     .weight_bytes = weight_bytes,
                     .kernels = graph.nodes().size(),
                     .aliases = std::move(aliases)};
  return std::make_unique<OnnxExecutable>(std::move(library), std::move(parts));
}

}  // namespace alate::onnxruntime
