// The two implementations of the kernel interface; see include/alate/kernels.h.
#pragma once

#include <memory>
#include <string>

#include "alate/kernels.h"
#include "backends/backend.h"

namespace alate::array {

/// The kernels of our own engine, called directly.
std::shared_ptr<const KernelBackend> make_cpu_kernels(const CpuKernelOptions& options);

/// Small graphs on any backend, which must outlive the result; `device` is one of its own.
std::shared_ptr<const KernelBackend> make_graph_kernels(backends::Backend& backend, backends::Device device);

}  // namespace alate::array
