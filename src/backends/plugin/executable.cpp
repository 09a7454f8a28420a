#include "backends/plugin/executable.h"

#include <cstddef>

#include "alate/error.h"
#include "backends/donation.h"
#include "backends/host_buffers.h"
#include "backends/plugin/arrays.h"
#include "backends/plugin/graph_text.h"
#include "backends/plugin/visits.h"
#include "base/threads/thread_pool.h"

namespace alate::plugin {
namespace {

// Descriptions of constants for the library.
struct ConstantDescriptions {
  explicit ConstantDescriptions(const std::vector<graph::ConstantPtr>& from, std::span<const Tensor> tensors)
      : arrays(tensors), names(from.size()), identities(from.size()), constants(from.size()) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      names[i] = from[i]->name;
      identities[i] = to_string(from[i]->identity);
      constants[i].struct_size = sizeof constants[i];
      constants[i].number = i;
      constants[i].name = names[i].c_str();
      constants[i].identity = identities[i].c_str();
      constants[i].array = arrays.read()[i];
      pointers.push_back(&constants[i]);
    }
  }

  Arrays arrays;
  std::vector<std::string> names, identities;
  std::vector<alate_constant> constants;
  std::vector<const alate_constant*> pointers;
};

std::int32_t ask_whether_cancelled(void* context) {
  try {
    return static_cast<const base::Cancellation*>(context)->is_requested() ? 1 : 0;
  } catch (...) {
    return 1;
  }
}

}  // namespace

PluginExecutable::PluginExecutable(const graph::Graph& graph, std::shared_ptr<const Library> library,
                                   const backends::CompileOptions& options)
    : library_(std::move(library)),
      dims_(graph.shared_dims()),
      inputs_(backends::input_ports(graph)),
      outputs_(backends::output_ports(graph)),
      aliases_(backends::copied_aliases(graph, "in the C interface of backends no output overlaps an input")),
      max_workers_(options.max_workers != 0 ? options.max_workers : base::ThreadPool::shared().size()) {
  const std::shared_ptr<backends::WeightStore> weights =
      options.weights ? options.weights : std::make_shared<backends::WeightStore>();
  const GraphText text = write_graph(graph, *weights);
  for (const graph::ConstantPtr& constant : text.constants) constants_.push_back(constant->tensor);
  const auto descriptions = std::make_shared<ConstantDescriptions>(text.constants, constants_);
  constant_descriptions_ = descriptions;
  std::vector<const char*> option_names, option_values;
  for (const auto& [name, value] : options.session_options) {
    option_names.push_back(name.c_str());
    option_values.push_back(value.c_str());
  }
  const std::string cache_folder = options.cache_folder.string();
  alate_compile_arguments arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.graph = text.text.c_str();
  arguments.graph_bytes = text.text.size();
  arguments.constants = descriptions->pointers.data();
  arguments.constant_count = descriptions->pointers.size();
  arguments.device = options.device.c_str();
  arguments.max_workers = max_workers_;
  arguments.cache_folder = cache_folder.empty() ? nullptr : cache_folder.c_str();
  arguments.option_names = option_names.data();
  arguments.option_values = option_values.data();
  arguments.option_count = option_names.size();
  library_->check("compiling", &alate_backend_api::compile, static_cast<const alate_compile_arguments*>(&arguments),
                  &executable_);
  if (executable_ == nullptr) library_->fail("compiled a graph and gives no executable");
  try {
    check_ports();
  } catch (...) {
    library_->release(executable_);
    throw;
  }
}

PluginExecutable::~PluginExecutable() { library_->release(executable_); }

void PluginExecutable::check_ports() const {
  std::size_t found[2] = {0, 0};
  const auto compare = [&](std::int32_t is_output, const alate_port* port) {
    const std::vector<backends::Port>& wanted = is_output != 0 ? outputs_ : inputs_;
    std::size_t& place = found[is_output != 0 ? 1 : 0];
    const std::string what = std::string(is_output != 0 ? "output " : "input ") + std::to_string(place);
    if (port == nullptr) library_->fail("gives nothing as " + what);
    library_->require_size(port->struct_size, offsetof(alate_port, shape) + sizeof port->shape, what);
    if (place == wanted.size()) library_->fail("compiled a graph into one that has an " + what);
    const backends::Port& one = wanted[place++];
    const std::string shape = dims_->to_string(one.shape);
    // A port's name comes from the graph and may contain characters that a library's strings may not, so names are
    // compared unchecked.
    if (port->name == nullptr || std::string_view(port->name) != one.name ||
        library_->text(port->shape, "a port's shape") != shape)
      library_->fail("compiled a graph whose " + what + " is '" + one.name + "' " + shape + " into one with another");
  };
  Visit visit(compare);
  library_->check("asked for the ports", &alate_backend_api::visit_ports, executable_,
                  visit.function<std::int32_t, const alate_port*>(), visit.context());
  visit.finish();
  if (found[0] != inputs_.size() || found[1] != outputs_.size())
    library_->fail("compiled a graph of " + std::to_string(inputs_.size()) + " inputs and " +
                   std::to_string(outputs_.size()) + " outputs into one of " + std::to_string(found[0]) + " and " +
                   std::to_string(found[1]));
}

void PluginExecutable::compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
                               const backends::RunOptions& options) {
  if (inputs.size() != inputs_.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", inputs.size(), " inputs, the graph has ",
                     inputs_.size());
  graph::DimValues dims(*dims_);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    dims.bind(inputs_[i].shape, inputs[i].shape(), "input '" + inputs_[i].name + "'");
  const std::vector<Tensor> given = backends::host_tensors(inputs);
  std::vector<Tensor> results;
  for (const backends::Port& port : outputs_) results.push_back(Tensor::uninitialized(dims(port.shape)));
  const Arrays from(given), to(results);
  alate_run_arguments arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.inputs = from.read().data();
  arguments.input_count = from.read().size();
  arguments.outputs = to.write().data();
  arguments.output_count = to.write().size();
  arguments.max_workers = options.max_workers != 0 ? options.max_workers : max_workers_;
  base::Cancellation cancellation = options.cancellation;
  if (cancellation.is_possible()) {
    arguments.cancelled = ask_whether_cancelled;
    arguments.cancel_context = &cancellation;
  }
  library_->check("running", &alate_backend_api::run, executable_, static_cast<const alate_run_arguments*>(&arguments));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const std::size_t written = to.read()[i]->written; written != results[i].byte_count())
      library_->fail("says that it wrote " + std::to_string(written) + " bytes of output '" + outputs_[i].name +
                     "', which has " + std::to_string(results[i].byte_count()));
  }
  backends::store_outputs(results, outputs);
}

backends::ExecutableFacts PluginExecutable::facts() const {
  alate_facts facts{};
  facts.struct_size = sizeof facts;
  library_->check("asked for facts", &alate_backend_api::facts, executable_, &facts);
  std::size_t constant_bytes = 0;
  for (const Tensor& constant : constants_) constant_bytes += constant.byte_count();
  return {.weight_bytes = constant_bytes + facts.weight_bytes,
          .scratch_bytes = facts.scratch_bytes,
          .kernels = facts.kernels,
          .specialisations = 1,
          .aliases = aliases_};
}

}  // namespace alate::plugin
