#include "backends/compiled_program.h"

#include <algorithm>
#include <variant>

#include "alate/error.h"

namespace alate::backends {

using graph::Program;
using graph::ProgramPort;
using graph::ProgramStep;
using graph::ProgramValue;

CompiledProgram::CompiledProgram(Program program, Backend& backend, const CompileOptions& options)
    : program_(std::move(program)), backend_(backend) {
  compile(program_, options);
}

void CompiledProgram::compile(const Program& program, const CompileOptions& options) {
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

std::vector<Buffer> CompiledProgram::run(std::span<const Buffer> inputs, const RunOptions& options) const {
  const std::span<const ProgramPort> ports = program_.inputs();
  if (inputs.size() != ports.size()) {
    throw make_error(ErrorCode::invalid_argument, "program '", program_.name(), "' was given ", inputs.size(),
                     " inputs and takes ", ports.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::ValueType& wanted = program_.types()[ports[i].value];
    if (!graph::type_of(inputs[i].shape()).may_be(wanted)) {
      throw make_error(ErrorCode::invalid_argument, "input '", ports[i].name, "' of program '", program_.name(),
                       "' is ", to_string(inputs[i].shape()), " and must be ", to_string(wanted));
    }
  }
  return run(program_, inputs, options);
}

std::vector<Buffer> CompiledProgram::run(const Program& program, std::span<const Buffer> inputs,
                                         const RunOptions& options) const {
  std::vector<Buffer> values(program.types().size());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[program.inputs()[i].value] = inputs[i];
  for (const ProgramStep& step : program.steps()) {
    options.cancellation.check();
    std::vector<Buffer> given;
    for (const ProgramValue value : step.inputs) given.push_back(values[value]);
    for (const ProgramValue value : step.last_uses) values[value] = {};
    std::vector<Buffer> results = run_step(step, std::move(given), options);
    for (std::size_t i = 0; i < results.size(); ++i) values[step.results[i]] = std::move(results[i]);
    for (const ProgramValue value : step.last_uses) values[value] = {};
  }
  std::vector<Buffer> outputs;
  for (const ProgramPort& output : program.outputs()) outputs.push_back(values[output.value]);
  return outputs;
}

std::vector<Buffer> CompiledProgram::run_step(const ProgramStep& step, std::vector<Buffer> inputs,
                                              const RunOptions& options) const {
  if (const auto* graph = std::get_if<graph::RunGraph>(&step.what)) {
    std::vector<Buffer> outputs(step.results.size());
    executables_.at(graph->graph.get())->run(inputs, outputs, options);
    return outputs;
  }
  if (const auto* host = std::get_if<graph::RunHostOp>(&step.what)) {
    std::vector<Tensor> operands;
    for (const Buffer& input : inputs) operands.push_back(on_host(input));
    std::vector<Tensor> results = graph::run_host_op(host->op, operands);
    return {results.begin(), results.end()};
  }
  if (const auto* loop = std::get_if<graph::While>(&step.what)) {
    while (is_true(run(*loop->condition, inputs, options).front())) {
      options.cancellation.check();
      inputs = run(*loop->body, inputs, options);
    }
    return inputs;
  }
  const auto& branch = std::get<graph::If>(step.what);
  return run(is_true(inputs.front()) ? *branch.then : *branch.otherwise, std::span(inputs).subspan(1), options);
}

bool CompiledProgram::is_true(const Buffer& condition) const {
  return on_host(condition).bytes().front() != std::byte{0};
}

Tensor CompiledProgram::on_host(const Buffer& buffer) const {
  return buffer.host() != nullptr ? *buffer.host() : backend_.download(buffer);
}

ExecutableFacts CompiledProgram::facts() const {
  ExecutableFacts all;
  for (const auto& [graph, executable] : executables_) {
    const ExecutableFacts one = executable->facts();
    all.weight_bytes += one.weight_bytes;
    all.scratch_bytes = std::max(all.scratch_bytes, one.scratch_bytes);
    all.kernels += one.kernels;
    all.specialisations += one.specialisations;
  }
  return all;
}

}  // namespace alate::backends
