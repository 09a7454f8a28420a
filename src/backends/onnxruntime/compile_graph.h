// Compiles a graph into a session.
#pragma once

#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/places.h"
#include "graph/graph.h"

namespace alate::onnxruntime {

/// The opset in which graphs are written for a library.
int opset_of(const Library& library);

/// Throws unsupported, naming the port, for an input or output of a dtype that no version of ONNX Runtime takes.
void require_ports(const graph::Graph& graph);

/// `graph` has only nodes that onnx_support takes. Constants are not copied. Throws unsupported for inputs and outputs
/// of dtypes that the library's kernels do not take.
std::unique_ptr<OnnxExecutable> compile_graph(const graph::Graph& graph, std::shared_ptr<const Library> library,
                                              const Place& place, const backends::CompileOptions& options);

/// The number of threads of a session: the cap, or all of the pool.
std::size_t threads_of(const backends::CompileOptions& options);

}  // namespace alate::onnxruntime
