// Programs compiled for one backend.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "graph/program/program.h"

namespace alate::backends {

/// Compiles each graph of the program once, those of its loops and branches too. A program of one graph that takes and
/// gives what the graph does is the graph's executable. Else graphs run on the backend, and host ops on the host, where
/// their operands are downloaded; a value lives until its last reader has run, and a graph that writes over a donated
/// parameter then gets that value's memory if a step before it made the value. Outputs may be given the memory of an
/// input that the graph which makes the output writes over. Extents that the program does not know are dims of the
/// ports that no two of them share. Facts are sums over the graphs; cancellation is checked before each step, in each
/// turn of a loop too. The executable refers to the backend, which must outlive it. Throws as Backend::compile.
std::unique_ptr<Executable> compile(const graph::Program& program, Backend& backend, const CompileOptions& options);

}  // namespace alate::backends
