#include "backends/onnxruntime/executable.h"

#include <algorithm>
#include <optional>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/onnxruntime/run_watch.h"
#include "backends/onnxruntime/value.h"

namespace alate::onnxruntime {
namespace {

constexpr std::string_view kRunning = "running on onnx";

// Whether a run may write the buffer while it reads the other buffers.
bool is_alone(const Tensor& tensor, std::size_t index, std::span<const backends::Buffer> inputs,
              std::span<const backends::Buffer> outputs) {
  const auto is_shared = [&](const backends::Buffer& other) {
    return other.host() != nullptr && backends::overlap(tensor.bytes(), other.host()->bytes());
  };
  if (std::ranges::any_of(inputs, is_shared)) return false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i != index && is_shared(outputs[i])) return false;
  }
  return true;
}

bool is_known(const Shape& shape, const graph::DimValues& dims) {
  return std::ranges::all_of(shape.dims, [&](Dim dim) { return dims.is_bound(dim); });
}

}  // namespace

// The tensor that a run writes; empty where the library allocates it.
struct OnnxExecutable::Result {
  Tensor tensor;
  bool is_callers = false;
};

void OnnxExecutable::bind_dims(std::span<const backends::Buffer> inputs, graph::DimValues& dims) const {
  if (inputs.size() != parts_.inputs.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs, the graph has ",
                     parts_.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const backends::Port& port = parts_.inputs[i];
    const Shape& found = inputs[i].shape();
    if (parts_.has_exact_ports) {
      dims.bind(port.shape, found, "input '" + port.name + "'");
      continue;
    }
    if (found.dtype != port.shape.dtype || found.rank() != port.shape.rank())
      throw make_error(ErrorCode::invalid_argument, "input '", port.name, "' is ", to_string(found),
                       ", but the model takes ", parts_.dims->to_string(port.shape));
    for (std::size_t axis = 0; axis < found.rank(); ++axis) {
      const Dim dim = port.shape.dims[axis];
      if (!dim.is_number() && !dims.is_bound(dim)) dims.set(dim.id(), found.dims[axis].number(), port.name);
    }
  }
}

OnnxExecutable::Result OnnxExecutable::bind_output(std::size_t index, const graph::DimValues& dims,
                                                   std::span<const backends::Buffer> inputs,
                                                   std::span<const backends::Buffer> outputs,
                                                   abi::IoBinding* binding) const {
  const Shape& port = parts_.outputs[index].shape;
  const backends::Buffer& given = outputs[index];
  Result result;
  if (is_known(port, dims)) {
    const Shape shape = dims(port);
    if (!given.empty() && shape == given.shape() && is_alone(backends::host_tensor(given), index, inputs, outputs))
      result = {backends::host_tensor(given), true};
    else if (parts_.has_exact_ports)
      result.tensor = Tensor::uninitialized(shape);
  }
  const char* name = parts_.output_names[index].c_str();
  if (result.tensor.empty()) {
    library_->check<abi::BindOutputToDevice>(kRunning, binding, name, library_->host_memory());
    return result;
  }
  if (result.is_callers) (void)result.tensor.mutable_bytes();  // throws for borrowed memory, which must not be written
  const OwnedValue value = value_over(*library_, result.tensor);
  library_->check<abi::BindOutput>(kRunning, binding, name, static_cast<const abi::Value*>(value.get()));
  return result;
}

void OnnxExecutable::read_results(std::vector<Result>& results, abi::IoBinding* binding) const {
  abi::Allocator* allocator = nullptr;
  library_->check<abi::GetAllocatorWithDefaultOptions>(kRunning, &allocator);
  abi::Value** found = nullptr;
  std::size_t count = 0;
  library_->check<abi::GetBoundOutputValues>(kRunning, static_cast<const abi::IoBinding*>(binding), allocator, &found,
                                             &count);
  std::vector<OwnedValue> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(library_->own<abi::ReleaseValue>(found[i]));
  library_->check<abi::AllocatorFree>(kRunning, allocator, static_cast<void*>(found));
  for (std::size_t i = 0; i < count; ++i) {
    if (results[i].tensor.empty()) results[i].tensor = tensor_of(*library_, std::move(values[i]));
  }
  library_->call<abi::ClearBoundOutputs>(binding);
}

void OnnxExecutable::run_bound(abi::IoBinding* binding, const backends::RunOptions& options) const {
  std::optional<WatchedRun> watched;
  if (options.cancellation.is_possible()) watched.emplace(*library_, options.cancellation);
  try {
    library_->check<abi::RunWithBinding>(kRunning, parts_.session.get(), watched ? watched->options() : nullptr,
                                         static_cast<const abi::IoBinding*>(binding));
    parts_.files.require_unchanged();
  } catch (const Error& error) {
    options.cancellation.check();  // if cancelled, the error comes from ending the run
    parts_.files.require_unchanged();
    // Internal errors of a file's own operators mean that its inputs do not suit it.
    if (error.code() != ErrorCode::internal || parts_.has_exact_ports) throw;
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

OnnxExecutable::Binding OnnxExecutable::acquire_binding() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Binding binding = std::move(idle_.back());
      idle_.pop_back();
      return binding;
    }
  }
  abi::IoBinding* made = nullptr;
  library_->check<abi::CreateIoBinding>(kRunning, parts_.session.get(), &made);
  return library_->own<abi::ReleaseIoBinding>(made);
}

void OnnxExecutable::release_binding(Binding binding) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(binding));
}

void OnnxExecutable::compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                             const backends::RunOptions& options) {
  graph::DimValues dims(*parts_.dims);
  bind_dims(inputs, dims);
  if (outputs.size() != parts_.outputs.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", outputs.size(), " output buffers for ",
                     parts_.outputs.size(), " outputs");
  Binding binding = acquire_binding();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OwnedValue value = value_over(*library_, backends::host_tensor(inputs[i]));
    library_->check<abi::BindInput>(kRunning, binding.get(), parts_.input_names[i].c_str(),
                                    static_cast<const abi::Value*>(value.get()));
  }
  std::vector<Result> results;
  results.reserve(outputs.size());
  bool is_complete = true;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(bind_output(i, dims, inputs, outputs, binding.get()));
    is_complete = is_complete && !results.back().tensor.empty();
  }
  run_bound(binding.get(), options);
  if (!is_complete) read_results(results, binding.get());
  release_binding(std::move(binding));
  options.cancellation.check();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!results[i].is_callers) backends::store_outputs({&results[i].tensor, 1}, outputs.subspan(i, 1));
  }
}

backends::ExecutableFacts OnnxExecutable::facts() const {
  return {.weight_bytes = parts_.weight_bytes,
          .scratch_bytes = 0,
          .kernels = parts_.kernels,
          .specialisations = 1,
          .aliases = parts_.aliases};
}

}  // namespace alate::onnxruntime
