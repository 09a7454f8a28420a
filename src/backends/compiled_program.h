// A program whose graphs are compiled for one backend.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "graph/program/program.h"

namespace alate::backends {

/// Thread-safe: many runs may be under way at once. Refers to the backend, which must outlive it.
class CompiledProgram {
 public:
  /// Compiles each graph of the program once, those of its loops and branches too. Throws as Backend::compile.
  CompiledProgram(graph::Program program, Backend& backend, const CompileOptions& options);

  const graph::Program& program() const { return program_; }

  /// The outputs, in order, for inputs in the program's order. Graphs run on the backend, host ops on the host, where
  /// their operands are downloaded; a value lives until its last reader has run. Cancellation is checked before each
  /// step, in each turn of a loop too. Graphs get no buffer to write over: outputs that alias parameters are copies.
  /// Throws invalid_argument for inputs of other types, and as Executable::run.
  std::vector<Buffer> run(std::span<const Buffer> inputs, const RunOptions& options) const;

  /// Sums over its graphs.
  ExecutableFacts facts() const;

 private:
  void compile(const graph::Program& program, const CompileOptions& options);
  std::vector<Buffer> run(const graph::Program& program, std::span<const Buffer> inputs,
                          const RunOptions& options) const;
  std::vector<Buffer> run_step(const graph::ProgramStep& step, std::vector<Buffer> inputs,
                               const RunOptions& options) const;
  bool is_true(const Buffer& condition) const;
  Tensor on_host(const Buffer& buffer) const;

  graph::Program program_;
  Backend& backend_;
  std::map<const graph::Graph*, std::shared_ptr<Executable>> executables_;  // a graph that several steps run has one
};

}  // namespace alate::backends
