#include "backends/onnxruntime/session.h"

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "graph/interpreter.h"

namespace alate::onnxruntime {
namespace {

// TensorProto.DataType; complex numbers are pairs of floats along a last axis.
int element_type(DType dtype) {
  switch (dtype) {
    case DType::c64:
    case DType::f32: return 1;
    case DType::u8: return 2;
    case DType::i8: return 3;
    case DType::u16: return 4;
    case DType::i16: return 5;
    case DType::i32: return 6;
    case DType::i64: return 7;
    case DType::boolean: return 9;
    case DType::f16: return 10;
    case DType::c128:
    case DType::f64: return 11;
    case DType::u32: return 12;
    case DType::u64: return 13;
    case DType::bf16: return 16;
    case DType::f8e4m3fn: return 17;
    case DType::f8e4m3fnuz: return 18;
    case DType::f8e5m2: return 19;
    case DType::f8e5m2fnuz: return 20;
    case DType::u4: return 21;
    case DType::i4: return 22;
    default: throw make_error(ErrorCode::unsupported, "ONNX Runtime has no tensors of ", to_string(dtype));
  }
}

std::vector<const char*> pointers(const std::vector<std::string>& names) {
  std::vector<const char*> all;
  for (const std::string& name : names) all.push_back(name.c_str());
  return all;
}

}  // namespace

int opset_of(const Library& library) {
  constexpr int kVersionOfNewest = 26;
  return library.minor_version() >= kVersionOfNewest ? exchange::kNewestOnnxOpset : exchange::kOldestOnnxOpset;
}

OnnxExecutable::ValuePtr OnnxExecutable::value_over(const Tensor& tensor) const {
  std::vector<std::int64_t> dims;
  for (const Dim dim : tensor.shape().dims) dims.push_back(dim.number());
  if (is_complex(tensor.dtype())) dims.push_back(2);
  abi::Value* value = nullptr;
  library_->check<abi::CreateTensorWithData>("handing a tensor to onnx", library_->host_memory(),
                                             const_cast<std::byte*>(tensor.bytes().data()), tensor.byte_count(),
                                             static_cast<const std::int64_t*>(dims.data()), dims.size(),
                                             element_type(tensor.dtype()), &value);
  return {value, [library = library_](abi::Value* owned) { library->call<abi::ReleaseValue>(owned); }};
}

OnnxExecutable::OnnxExecutable(const graph::Graph& graph, std::shared_ptr<const Library> library, std::size_t threads)
    : library_(std::move(library)),
      graph_(graph),
      inputs_(backends::input_ports(graph)),
      outputs_(backends::output_ports(graph)),
      kernels_(graph.nodes().size()) {
  for (const backends::Port& port : inputs_) element_type(port.shape.dtype);  // or throws
  for (const backends::Port& port : outputs_) element_type(port.shape.dtype);
  exchange::OnnxModel model = exchange::write_onnx(graph, {.opset = opset_of(*library_)});
  input_names_ = std::move(model.inputs);
  output_names_ = std::move(model.outputs);
  abi::SessionOptions* made = nullptr;
  library_->check<abi::CreateSessionOptions>("preparing onnx", &made);
  const std::shared_ptr<abi::SessionOptions> options(
      made, [library = library_](abi::SessionOptions* owned) { library->call<abi::ReleaseSessionOptions>(owned); });
  library_->check<abi::SetGraphOptimizationLevel>("preparing onnx", options.get(), abi::kAllOptimizations);
  library_->check<abi::SetIntraOpThreads>("preparing onnx", options.get(), static_cast<int>(threads));
  std::vector<ValuePtr> values;
  std::vector<const abi::Value*> value_pointers;
  std::vector<const char*> names;
  for (const exchange::OnnxInitializer& initializer : model.initializers) {
    constants_.push_back(graph::materialize(*initializer.constant));
    weight_bytes_ += constants_.back().byte_count();
    values.push_back(value_over(constants_.back()));
    value_pointers.push_back(values.back().get());
    names.push_back(initializer.name.c_str());
  }
  if (!names.empty()) {
    library_->check<abi::AddExternalInitializers>(
        "giving weights to onnx", options.get(), static_cast<const char* const*>(names.data()),
        static_cast<const abi::Value* const*>(value_pointers.data()), names.size());
  }
  library_->check<abi::CreateSessionFromArray>("compiling for onnx", library_->environment(),
                                               static_cast<const void*>(model.bytes.data()), model.bytes.size(),
                                               static_cast<const abi::SessionOptions*>(options.get()), &session_);
}

OnnxExecutable::~OnnxExecutable() { library_->call<abi::ReleaseSession>(session_); }

void OnnxExecutable::run(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                         const backends::RunOptions& options) {
  if (inputs.size() != inputs_.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs, the graph has ",
                     inputs_.size());
  graph::DimValues dims(graph_.dims());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    dims.bind(inputs_[i].shape, inputs[i].shape(), "input '" + inputs_[i].name + "'");
  if (options.cancelled != nullptr && (*options.cancelled)())
    throw Error(ErrorCode::cancelled, "the run was cancelled");
  std::vector<ValuePtr> values;
  std::vector<const abi::Value*> given;
  for (const backends::Buffer& input : inputs) {
    values.push_back(value_over(backends::host_tensor(input)));
    given.push_back(values.back().get());
  }
  std::vector<Tensor> results;
  std::vector<abi::Value*> written;
  for (const backends::Port& port : outputs_) {
    results.push_back(Tensor::uninitialized(dims(port.shape)));
    values.push_back(value_over(results.back()));
    written.push_back(values.back().get());
  }
  const std::vector<const char*> input_names = pointers(input_names_), output_names = pointers(output_names_);
  library_->check<abi::Run>("running on onnx", session_, static_cast<const abi::RunOptions*>(nullptr),
                            static_cast<const char* const*>(input_names.data()),
                            static_cast<const abi::Value* const*>(given.data()), given.size(),
                            static_cast<const char* const*>(output_names.data()), output_names.size(), written.data());
  backends::give_outputs(results, outputs);
}

backends::ExecutableFacts OnnxExecutable::facts() const {
  return {.weight_bytes = weight_bytes_, .scratch_bytes = 0, .kernels = kernels_, .specialisations = 1};
}

}  // namespace alate::onnxruntime
