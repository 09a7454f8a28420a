#include "backends/xla/executable.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "exchange/stablehlo.h"
#include "graph/interpreter.h"

namespace alate::xla {
namespace {

constexpr std::size_t kKeptSpecialisations = 16;

}  // namespace

XlaExecutable::XlaExecutable(graph::Graph graph, std::shared_ptr<const Client> client)
    : graph_(std::move(graph)),
      client_(std::move(client)),
      inputs_(backends::input_ports(graph_)),
      outputs_(backends::output_ports(graph_)) {}

DeviceBuffer XlaExecutable::constant(const graph::ConstantPtr& constant) {
  for (const auto& [known, buffer] : constants_) {
    if (known == constant) return buffer;
  }
  const Tensor tensor = graph::materialize(*constant);
  weight_bytes_ += tensor.byte_count();
  constants_.emplace_back(constant, client_->upload(tensor));
  return constants_.back().second;
}

// Under the lock: two runs of new sizes compile one after the other, and none compiles what another does already.
XlaExecutable::SpecialisationPtr XlaExecutable::specialise(const graph::DimValues& values) {
  const std::vector<std::int64_t> key(values.raw().begin(), values.raw().end());
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(specialisations_.begin(), specialisations_.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  if (found != specialisations_.end()) {
    specialisations_.splice(specialisations_.begin(), specialisations_, found);
    return found->second;
  }
  const exchange::StableHloModule module = exchange::write_stablehlo(graph_, values);
  auto made = std::make_shared<Specialisation>();
  made->program = client_->compile(module.text);
  for (const graph::ConstantPtr& wanted : module.constants) made->constants.push_back(constant(wanted));
  specialisations_.emplace_front(key, made);
  if (specialisations_.size() > kKeptSpecialisations) specialisations_.pop_back();
  return made;
}

void XlaExecutable::run(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                        const backends::RunOptions& options) {
  if (inputs.size() != inputs_.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs, the graph has ",
                     inputs_.size());
  graph::DimValues values(graph_.dims());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values.bind(inputs_[i].shape, inputs[i].shape(), "input '" + inputs_[i].name + "'");
  const SpecialisationPtr specialisation = specialise(values);
  if (options.cancelled != nullptr && (*options.cancelled)())
    throw Error(ErrorCode::cancelled, "the run was cancelled");
  std::vector<DeviceBuffer> arguments;
  for (const backends::Buffer& input : inputs) {
    if (input.device_memory() != nullptr) {
      arguments.push_back(std::static_pointer_cast<abi::Buffer>(input.device_memory()));
    } else {
      arguments.push_back(client_->upload(backends::host_tensor(input)));
    }
  }
  arguments.insert(arguments.end(), specialisation->constants.begin(), specialisation->constants.end());
  const std::vector<DeviceBuffer> made = client_->run(specialisation->program, arguments, outputs_.size());
  std::vector<Tensor> results;
  for (const DeviceBuffer& buffer : made) results.push_back(client_->download(buffer));
  backends::give_outputs(results, outputs);
}

backends::ExecutableFacts XlaExecutable::facts() const {
  const std::lock_guard lock(mutex_);
  return {.weight_bytes = weight_bytes_,
          .scratch_bytes = 0,
          .kernels = graph_.nodes().size(),
          .specialisations = specialisations_.size()};
}

}  // namespace alate::xla
