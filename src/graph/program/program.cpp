#include "graph/program/program.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::graph {
namespace {

constexpr int kDeepest = 16;

std::vector<ValueType> types_of(const Program& program, std::span<const ProgramPort> ports) {
  std::vector<ValueType> types;
  for (const ProgramPort& port : ports) types.push_back(program.types()[port.value]);
  return types;
}

// What is known of a value that is one or the other.
ValueType common(const ValueType& a, const ValueType& b) {
  ValueType both = a;
  for (std::size_t axis = 0; axis < both.extents.size(); ++axis) {
    if (a.extents[axis] != b.extents[axis]) both.extents[axis] = ValueType::kAny;
  }
  return both;
}

void add_program(FingerprintBuilder& builder, const Program& program) {
  for (const ValueType& type : program.types()) builder.add(to_string(type));
  for (const std::span<const ProgramPort> ports : {program.inputs(), program.outputs()}) {
    builder.add(std::uint64_t{ports.size()});
    for (const ProgramPort& port : ports) builder.add(port.name).add(std::uint64_t{port.value});
  }
  for (const ProgramStep& step : program.steps()) {
    builder.add(std::uint64_t{step.what.index()});
    if (const auto* run = std::get_if<RunGraph>(&step.what)) builder.add(run->graph->fingerprint());
    if (const auto* run = std::get_if<RunHostOp>(&step.what)) builder.add(to_string(run->op));
    if (const auto* loop = std::get_if<While>(&step.what)) {
      add_program(builder, *loop->condition);
      add_program(builder, *loop->body);
    }
    if (const auto* branch = std::get_if<If>(&step.what)) {
      add_program(builder, *branch->then);
      add_program(builder, *branch->otherwise);
    }
    for (const std::vector<ProgramValue>* values : {&step.inputs, &step.results}) {
      builder.add(std::uint64_t{values->size()});
      for (const ProgramValue value : *values) builder.add(std::uint64_t{value});
    }
  }
}

}  // namespace

bool ValueType::may_be(const ValueType& wanted) const {
  return dtype == wanted.dtype && std::ranges::equal(extents, wanted.extents, [](std::int64_t a, std::int64_t b) {
           return a == b || a == kAny || b == kAny;
         });
}

std::string to_string(const ValueType& type) {
  std::string text = std::string(alate::to_string(type.dtype)) + "[";
  for (std::size_t axis = 0; axis < type.extents.size(); ++axis) {
    if (axis > 0) text += ',';
    text += type.extents[axis] == ValueType::kAny ? "?" : std::to_string(type.extents[axis]);
  }
  return text + "]";
}

ValueType type_of(const Shape& shape) {
  ValueType type{shape.dtype, {}};
  for (const Dim dim : shape.dims) type.extents.push_back(dim.is_number() ? dim.number() : ValueType::kAny);
  return type;
}

Fingerprint Program::fingerprint() const {
  FingerprintBuilder builder;
  add_program(builder, *this);
  return builder.finish();
}

void ProgramBuilder::fail(std::string_view step, std::string_view what) const {
  throw make_error(ErrorCode::invalid_argument, "program '", program_.name_, "', step ", program_.steps_.size(), " (",
                   step, "): ", what);
}

std::vector<ValueType> ProgramBuilder::types_of(std::string_view step, std::span<const ProgramValue> values) const {
  std::vector<ValueType> types;
  for (const ProgramValue value : values) {
    if (value >= program_.types_.size()) fail(step, "reads a value that no earlier step makes");
    types.push_back(program_.types_[value]);
  }
  return types;
}

void ProgramBuilder::require_inputs(std::string_view step, std::span<const ValueType> given,
                                    std::span<const ValueType> wanted) const {
  if (given.size() != wanted.size())
    fail(step, "takes " + std::to_string(wanted.size()) + " values, not " + std::to_string(given.size()));
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].may_be(wanted[i]))
      fail(step, "value " + std::to_string(i) + " is " + to_string(given[i]) + " and must be " + to_string(wanted[i]));
  }
}

void ProgramBuilder::contain(const std::shared_ptr<const Program>& part, std::string_view step) {
  if (part == nullptr) fail(step, "has an empty part");
  program_.depth_ = std::max(program_.depth_, part->depth() + 1);
  if (program_.depth_ > kDeepest) fail(step, "programs are nested more than " + std::to_string(kDeepest) + " deep");
}

std::vector<ProgramValue> ProgramBuilder::add(ProgramStep step, const std::vector<ValueType>& results) {
  if (results.empty()) fail("the last", "gives nothing");
  for (const ValueType& type : results) {
    step.results.push_back(static_cast<ProgramValue>(program_.types_.size()));
    program_.types_.push_back(type);
  }
  std::vector<ProgramValue> made = step.results;
  program_.steps_.push_back(std::move(step));
  return made;
}

ProgramValue ProgramBuilder::input(std::string name, ValueType type) {
  if (std::ranges::find(program_.inputs_, name, &ProgramPort::name) != program_.inputs_.end())
    fail("input", "two inputs are named '" + name + "'");
  if (!program_.steps_.empty()) fail("input", "inputs come before all steps");
  const auto value = static_cast<ProgramValue>(program_.types_.size());
  program_.types_.push_back(std::move(type));
  program_.inputs_.push_back({std::move(name), value});
  return value;
}

std::vector<ProgramValue> ProgramBuilder::run(std::shared_ptr<const Graph> graph, std::vector<ProgramValue> inputs) {
  if (graph == nullptr) fail("run", "has no graph");
  const std::string step = "run " + graph->name();
  std::vector<ValueType> wanted, results;
  for (const Parameter& parameter : graph->parameters()) wanted.push_back(type_of(parameter.shape));
  for (const Output& output : graph->outputs()) results.push_back(type_of(graph->shape(output.value)));
  require_inputs(step, types_of(step, inputs), wanted);
  return add({.what = RunGraph{std::move(graph)}, .inputs = std::move(inputs), .results = {}}, results);
}

std::vector<ProgramValue> ProgramBuilder::host(HostOp op, std::vector<ProgramValue> inputs) {
  const std::vector<ValueType> operands = types_of(to_string(op), inputs);
  std::vector<ValueType> results;
  try {
    results = host_types(op, operands);
  } catch (const Error& error) {
    fail(to_string(op), error.message());
  }
  return add({.what = RunHostOp{op}, .inputs = std::move(inputs), .results = {}}, results);
}

std::vector<ProgramValue> ProgramBuilder::while_loop(std::vector<ProgramValue> state,
                                                     std::shared_ptr<const Program> condition,
                                                     std::shared_ptr<const Program> body) {
  constexpr std::string_view kStep = "while";
  contain(condition, kStep);
  contain(body, kStep);
  std::vector<ValueType> types = types_of(kStep, state);
  require_inputs(kStep, types, graph::types_of(*condition, condition->inputs()));
  require_inputs(kStep, types, graph::types_of(*body, body->inputs()));
  const std::vector<ValueType> asked = graph::types_of(*condition, condition->outputs()),
                               next = graph::types_of(*body, body->outputs());
  if (asked.size() != 1 || !asked[0].may_be({DType::boolean, {}}))
    fail(kStep, "its condition must give one bool scalar");
  require_inputs(kStep, next, graph::types_of(*body, body->inputs()));
  require_inputs(kStep, next, graph::types_of(*condition, condition->inputs()));
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = common(types[i], next[i]);
  return add({.what = While{std::move(condition), std::move(body)}, .inputs = std::move(state), .results = {}}, types);
}

std::vector<ProgramValue> ProgramBuilder::if_else(std::vector<ProgramValue> inputs, std::shared_ptr<const Program> then,
                                                  std::shared_ptr<const Program> otherwise) {
  constexpr std::string_view kStep = "if";
  contain(then, kStep);
  contain(otherwise, kStep);
  const std::vector<ValueType> types = types_of(kStep, inputs);
  if (types.empty() || !types[0].may_be({DType::boolean, {}})) fail(kStep, "its first value must be a bool scalar");
  for (const Program* part : {then.get(), otherwise.get()})
    require_inputs(kStep, std::span(types).subspan(1), graph::types_of(*part, part->inputs()));
  std::vector<ValueType> results = graph::types_of(*then, then->outputs());
  const std::vector<ValueType> others = graph::types_of(*otherwise, otherwise->outputs());
  const bool are_alike = std::ranges::equal(results, others, [](const ValueType& a, const ValueType& b) {
    return a.dtype == b.dtype && a.extents.size() == b.extents.size();
  });
  if (!are_alike) fail(kStep, "both of its programs must give as many results, of the same types and ranks");
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = common(results[i], others[i]);
  return add({.what = If{std::move(then), std::move(otherwise)}, .inputs = std::move(inputs), .results = {}}, results);
}

void ProgramBuilder::output(std::string name, ProgramValue value) {
  if (std::ranges::find(program_.outputs_, name, &ProgramPort::name) != program_.outputs_.end())
    fail("output", "two outputs are named '" + name + "'");
  (void)types_of("output", std::span(&value, 1));
  program_.outputs_.push_back({std::move(name), value});
}

void ProgramBuilder::find_last_uses() {
  std::vector<bool> is_used(program_.types_.size());
  for (const ProgramPort& output : program_.outputs_) is_used[output.value] = true;
  for (std::size_t i = program_.steps_.size(); i-- > 0;) {
    ProgramStep& step = program_.steps_[i];
    for (const std::vector<ProgramValue>* values : {&step.results, &step.inputs}) {
      for (const ProgramValue value : *values) {
        if (!is_used[value]) step.last_uses.push_back(value);
        is_used[value] = true;
      }
    }
  }
}

Program program_of(const std::shared_ptr<const Graph>& graph) {
  ProgramBuilder builder(graph->name());
  std::vector<ProgramValue> inputs;
  for (const Parameter& parameter : graph->parameters())
    inputs.push_back(builder.input(parameter.name, type_of(parameter.shape)));
  const std::vector<ProgramValue> results = builder.run(graph, std::move(inputs));
  for (std::size_t i = 0; i < results.size(); ++i) builder.output(graph->outputs()[i].name, results[i]);
  return builder.finish();
}

Program ProgramBuilder::finish() {
  find_last_uses();
  Program done = std::move(program_);
  program_ = Program();
  return done;
}

}  // namespace alate::graph
