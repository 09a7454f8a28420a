// Graphs, host steps and loops between them: what depends on data, which is outside of graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "alate/tensor.h"
#include "graph/graph.h"
#include "graph/program/host_op.h"

namespace alate::graph {

class Program;

/// Index into Program::types.
using ProgramValue = std::uint32_t;

/// What is known of a value before a run.
struct ValueType {
  static constexpr std::int64_t kAny = -1;
  DType dtype = DType::invalid;
  std::vector<std::int64_t> extents;  // kAny: not known

  /// Whether a value of this type may be given where `wanted` is expected: nothing that is known contradicts it.
  bool may_be(const ValueType& wanted) const;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

/// "i64[?,4]"
std::string to_string(const ValueType& type);
/// The type of a value with this shape: dims that are not numbers are not known.
ValueType type_of(const Shape& shape);

/// Runs a graph; results are its outputs.
struct RunGraph {
  std::shared_ptr<const Graph> graph;
};
/// Runs an op of the host.
struct RunHostOp {
  HostOp op = HostOp::sizes;
};
/// Runs `body` over its state, the inputs, as long as `condition` gives true for it; results are the last state. Both
/// are closed: they read the state alone.
struct While {
  std::shared_ptr<const Program> condition, body;
};
/// Input 0, a bool, chooses which runs over the other inputs; both give as many results of the same types.
struct If {
  std::shared_ptr<const Program> then, otherwise;
};

struct ProgramStep {
  std::variant<RunGraph, RunHostOp, While, If> what;
  std::vector<ProgramValue> inputs, results;
  std::vector<ProgramValue> last_uses =
      {};  // values that no later step and no output reads: inputs and results of this one
};

struct ProgramPort {
  std::string name;
  ProgramValue value = 0;
};

/// Immutable once built (by ProgramBuilder::finish); each value is an input or a result of one step, and steps read
/// earlier values only. Safe to share among threads.
class Program {
 public:
  const std::string& name() const { return name_; }
  std::span<const ValueType> types() const { return types_; }
  std::span<const ProgramStep> steps() const { return steps_; }
  std::span<const ProgramPort> inputs() const { return inputs_; }
  std::span<const ProgramPort> outputs() const { return outputs_; }
  /// Programs inside of it, one in the other; 0: none.
  int depth() const { return depth_; }
  /// Covers everything that determines the results; not names of programs. Stable across processes.
  Fingerprint fingerprint() const;

 private:
  friend class ProgramBuilder;
  std::string name_;
  std::vector<ValueType> types_;
  std::vector<ProgramStep> steps_;
  std::vector<ProgramPort> inputs_, outputs_;
  int depth_ = 0;
};

/// Not thread-safe. Types are inferred as steps are added. Throws invalid_argument, naming the program and the step,
/// for values that it does not have, wrong numbers and types of them, names that occur twice, and programs nested more
/// than 16 deep.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { program_.name_ = std::move(name); }

  ProgramValue input(std::string name, ValueType type);
  std::vector<ProgramValue> run(std::shared_ptr<const Graph> graph, std::vector<ProgramValue> inputs);
  std::vector<ProgramValue> host(HostOp op, std::vector<ProgramValue> inputs);
  /// Types of the state stay what they are; where the body changes an extent, it is not known.
  std::vector<ProgramValue> while_loop(std::vector<ProgramValue> state, std::shared_ptr<const Program> condition,
                                       std::shared_ptr<const Program> body);
  std::vector<ProgramValue> if_else(std::vector<ProgramValue> inputs, std::shared_ptr<const Program> then,
                                    std::shared_ptr<const Program> otherwise);
  void output(std::string name, ProgramValue value);

  const ValueType& type(ProgramValue value) const { return program_.types_.at(value); }
  Program finish();

 private:
  [[noreturn]] void fail(std::string_view step, std::string_view what) const;
  std::vector<ValueType> types_of(std::string_view step, std::span<const ProgramValue> values) const;
  void require_inputs(std::string_view step, std::span<const ValueType> given, std::span<const ValueType> wanted) const;
  void contain(const std::shared_ptr<const Program>& part, std::string_view step);
  void find_last_uses();
  std::vector<ProgramValue> add(ProgramStep step, const std::vector<ValueType>& results);

  Program program_;
};

/// A program of this graph alone, with its name and ports.
Program program_of(const std::shared_ptr<const Graph>& graph);

}  // namespace alate::graph
