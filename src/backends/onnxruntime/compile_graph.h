// A graph as a session.
#pragma once

#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/places.h"
#include "graph/graph.h"

namespace alate::onnxruntime {

/// The opset that a library reads.
int opset_of(const Library& library);

/// Throws unsupported, naming it, for an input or output of a dtype that no version of ONNX Runtime takes.
void require_ports(const graph::Graph& graph);

/// `graph` has only nodes that onnx_support takes. Constants stay where they are. Throws unsupported for inputs and
/// outputs of dtypes that the library's kernels do not take.
std::unique_ptr<OnnxExecutable> compile_graph(const graph::Graph& graph, std::shared_ptr<const Library> library,
                                              const Place& place, const backends::CompileOptions& options);

/// The threads of a session: the cap, or all of the pool.
std::size_t threads_of(const backends::CompileOptions& options);

}  // namespace alate::onnxruntime
