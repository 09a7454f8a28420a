#include "backends/compile_program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "alate/error.h"
#include "backends/host_buffers.h"

namespace alate::backends {
namespace {

using graph::Program;
using graph::ProgramPort;
using graph::ProgramStep;
using graph::ProgramValue;

// A value of a run. Its memory may be written over if a step of this run made it or the caller gave it up, and nothing
// else has it.
struct Held {
  Buffer buffer = {};
  bool is_free = false;
};

bool is_same(const Buffer& a, const Buffer& b) {
  if (a.host() == nullptr || b.host() == nullptr)
    return a.device_memory() != nullptr && a.device_memory() == b.device_memory();
  return a.host()->shares_storage_with(*b.host()) && a.shape() == b.shape();
}

bool share_bytes(const Buffer& a, const Buffer& b) {
  if (a.host() == nullptr || b.host() == nullptr) return is_same(a, b);
  return overlap(a.host()->bytes(), b.host()->bytes());
}

// Whether the caller gave an input's memory for an output too, and has it in no other input.
bool is_given_up(const Buffer& input, std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  return std::ranges::count_if(outputs, [&](const Buffer& output) { return is_same(output, input); }) == 1 &&
         std::ranges::count_if(inputs, [&](const Buffer& other) { return share_bytes(other, input); }) == 1;
}

// The only graph of a program that is no more than the graph; else null.
const graph::Graph* only_graph(const Program& program) {
  if (program.steps().size() != 1) return nullptr;
  const ProgramStep& step = program.steps().front();
  const auto* run = std::get_if<graph::RunGraph>(&step.what);
  const auto same = [](std::span<const ProgramPort> ports, std::span<const ProgramValue> values) {
    return std::ranges::equal(ports, values, {}, &ProgramPort::value);
  };
  const bool is_all = run != nullptr && same(program.inputs(), step.inputs) && same(program.outputs(), step.results);
  return is_all ? run->graph.get() : nullptr;
}

class ProgramExecutable final : public Executable {
 public:
  ProgramExecutable(Program program, Backend& backend, const CompileOptions& options)
      : program_(std::move(program)), backend_(backend) {
    compile(program_, options);
    graph::DimTable dims;
    inputs_ = ports_of(program_.inputs(), dims);
    outputs_ = ports_of(program_.outputs(), dims);
  }

  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }

  ExecutableFacts facts() const override {
    ExecutableFacts all;
    for (const auto& [graph, executable] : executables_) {
      const ExecutableFacts one = executable->facts();
      all.weight_bytes += one.weight_bytes;
      all.scratch_bytes = std::max(all.scratch_bytes, one.scratch_bytes);
      all.kernels += one.kernels;
      all.specialisations += one.specialisations;
      all.aliases.insert(all.aliases.end(), one.aliases.begin(), one.aliases.end());
    }
    return all;
  }

  BatchHint batch_hint() const override {
    if (executables_.empty()) return {};
    BatchHint all = executables_.begin()->second->batch_hint();
    for (const auto& [graph, executable] : executables_) {
      const BatchHint one = executable->batch_hint();
      all.rows = std::min(all.rows, one.rows);
      all.workers = std::min(all.workers, one.workers);
      all.rows_per_worker = std::min(all.rows_per_worker, one.rows_per_worker);
      all.specialises = all.specialises || one.specialises;
    }
    return all;
  }

 protected:
  void compute(std::span<const Buffer> inputs, std::span<Buffer> outputs, const RunOptions& options) override {
    const std::span<const ProgramPort> ports = program_.inputs();
    if (inputs.size() != ports.size()) {
      throw make_error(ErrorCode::invalid_argument, "program '", program_.name(), "' was given ", inputs.size(),
                       " inputs and takes ", ports.size());
    }
    if (outputs.size() != outputs_.size()) {
      throw make_error(ErrorCode::invalid_argument, "program '", program_.name(), "' was given ", outputs.size(),
                       " output buffers for ", outputs_.size(), " outputs");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const graph::ValueType& wanted = program_.types()[ports[i].value];
      if (!graph::type_of(inputs[i].shape()).may_be(wanted)) {
        throw make_error(ErrorCode::invalid_argument, "input '", ports[i].name, "' of program '", program_.name(),
                         "' is ", to_string(inputs[i].shape()), " and must be ", to_string(wanted));
      }
    }
    std::vector<Held> given;
    for (const Buffer& input : inputs) given.push_back({input, is_given_up(input, inputs, outputs)});
    std::vector<Held> made = run(program_, std::move(given), options);
    for (std::size_t i = 0; i < outputs.size(); ++i) give(std::move(made[i].buffer), outputs[i], i);
  }

 private:
  void compile(const Program& program, const CompileOptions& options) {
    for (const ProgramStep& step : program.steps()) {
      if (const auto* run = std::get_if<graph::RunGraph>(&step.what)) {
        std::shared_ptr<Executable>& made = executables_[run->graph.get()];
        if (made == nullptr) made = backend_.compile(*run->graph, options);
      } else if (const auto* loop = std::get_if<graph::While>(&step.what)) {
        compile(*loop->condition, options);
        compile(*loop->body, options);
      } else if (const auto* branch = std::get_if<graph::If>(&step.what)) {
        compile(*branch->then, options);
        compile(*branch->otherwise, options);
      }
    }
  }

  std::vector<Port> ports_of(std::span<const ProgramPort> given, graph::DimTable& dims) const {
    std::vector<Port> ports;
    for (const ProgramPort& port : given) {
      const graph::ValueType& type = program_.types()[port.value];
      Shape shape{type.dtype, {}};
      for (const std::int64_t extent : type.extents) {
        const bool is_known = extent != graph::ValueType::kAny;
        shape.dims.push_back(is_known ? Dim(extent) : dims.named("any" + std::to_string(dims.size())));
      }
      ports.push_back({port.name, std::move(shape)});
    }
    return ports;
  }

  std::vector<Held> run(const Program& program, std::vector<Held> inputs, const RunOptions& options) const {
    std::vector<Held> values(program.types().size());
    for (std::size_t i = 0; i < inputs.size(); ++i) values[program.inputs()[i].value] = std::move(inputs[i]);
    for (const ProgramStep& step : program.steps()) {
      options.cancellation.check();
      std::vector<Held> given;
      for (const ProgramValue value : step.inputs) {
        const bool ends = std::ranges::find(step.last_uses, value) != step.last_uses.end();
        const bool is_alone = ends && std::ranges::count(step.inputs, value) == 1;
        given.push_back({values[value].buffer, is_alone && values[value].is_free});
      }
      for (const ProgramValue value : step.last_uses) values[value] = {};
      std::vector<Held> results = run_step(step, std::move(given), options);
      for (std::size_t i = 0; i < results.size(); ++i) values[step.results[i]] = std::move(results[i]);
      for (const ProgramValue value : step.last_uses) values[value] = {};
    }
    std::vector<Held> outputs;
    for (const ProgramPort& output : program.outputs()) {
      const bool is_alone = std::ranges::count(program.outputs(), output.value, &ProgramPort::value) == 1;
      outputs.push_back({values[output.value].buffer, is_alone && values[output.value].is_free});
    }
    return outputs;
  }

  std::vector<Held> run_step(const ProgramStep& step, std::vector<Held> inputs, const RunOptions& options) const {
    if (const auto* graph = std::get_if<graph::RunGraph>(&step.what))
      return run_graph(*graph->graph, std::move(inputs), options);
    if (const auto* host = std::get_if<graph::RunHostOp>(&step.what)) {
      std::vector<Tensor> operands;
      for (const Held& input : inputs) operands.push_back(on_host(input.buffer));
      std::vector<Held> results;
      // An op may give an operand as it is.
      for (Tensor& result : graph::run_host_op(host->op, operands)) results.push_back({.buffer = std::move(result)});
      return results;
    }
    if (const auto* loop = std::get_if<graph::While>(&step.what)) {
      const auto goes_on = [&] {
        std::vector<Held> state;
        for (const Held& input : inputs) state.push_back({.buffer = input.buffer});
        return is_true(run(*loop->condition, std::move(state), options).front().buffer);
      };
      while (goes_on()) {
        options.cancellation.check();
        inputs = run(*loop->body, std::move(inputs), options);
      }
      return inputs;
    }
    const auto& branch = std::get<graph::If>(step.what);
    const bool chosen = is_true(inputs.front().buffer);
    inputs.erase(inputs.begin());
    return run(chosen ? *branch.then : *branch.otherwise, std::move(inputs), options);
  }

  std::vector<Held> run_graph(const graph::Graph& graph, std::vector<Held> inputs, const RunOptions& options) const {
    std::vector<Buffer> given, outputs(graph.outputs().size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto parameter = graph.outputs()[i].aliases_parameter;
      if (parameter && inputs[*parameter].is_free) outputs[i] = inputs[*parameter].buffer;
    }
    for (Held& input : inputs) given.push_back(std::move(input.buffer));
    inputs.clear();
    executables_.at(&graph)->run(given, outputs, options);
    std::vector<Held> results;
    for (Buffer& output : outputs) results.push_back({std::move(output), true});
    return results;
  }

  // What the caller gave for output `i` takes the result's bytes.
  void give(Buffer made, Buffer& given, std::size_t i) const {
    if (given.empty()) {
      given = std::move(made);
      return;
    }
    if (given.host() == nullptr && made.host() == nullptr) {
      given = std::move(made);
      return;
    }
    if (given.host() == nullptr) {
      throw make_error(ErrorCode::invalid_argument, "output '", outputs_[i].name, "' of program '", program_.name(),
                       "' was given memory of a device: give host memory, or none");
    }
    const Tensor from = on_host(made);
    Tensor to = *given.host();
    if (to.shape() != from.shape()) {
      throw make_error(ErrorCode::invalid_argument, "output '", outputs_[i].name, "' is ", to_string(from.shape()),
                       " but the buffer given for it is ", to_string(to.shape()));
    }
    if (to.byte_count() > 0 && !to.shares_storage_with(from))
      std::memmove(to.mutable_bytes().data(), from.bytes().data(), to.byte_count());
  }

  bool is_true(const Buffer& condition) const { return on_host(condition).bytes().front() != std::byte{0}; }

  Tensor on_host(const Buffer& buffer) const {
    return buffer.host() != nullptr ? *buffer.host() : backend_.download(buffer);
  }

  Program program_;
  Backend& backend_;
  std::map<const graph::Graph*, std::shared_ptr<Executable>> executables_;  // a graph that several steps run has one
  std::vector<Port> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Executable> compile(const graph::Program& program, Backend& backend, const CompileOptions& options) {
  if (const graph::Graph* graph = only_graph(program)) return backend.compile(*graph, options);
  return std::make_unique<ProgramExecutable>(program, backend, options);
}

}  // namespace alate::backends
