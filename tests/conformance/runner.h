// Runs cases on a backend and compares the results with the reference interpreter's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "tests/conformance/cases/case.h"

namespace alate::conformance {

enum class Outcome : std::uint8_t { passed, failed, unsupported };

struct Verdict {
  Outcome outcome = Outcome::passed;
  std::string detail;  // what differs, or why the backend does not take it
};

/// Every case's verdict. Cases share one module; those of a module that fails run again alone.
std::vector<Verdict> run_together(backends::Backend& backend, std::span<const Case> cases);

/// A case alone.
Verdict run_alone(backends::Backend& backend, const Case& subject);

/// The first that can be used, or null.
const backends::Device* usable_device(std::span<const backends::Device> devices);

/// All right answers of a backend that flushes subnormals, each a list of outputs: these two, and either with its own
/// subnormals flushed.
std::vector<std::vector<Tensor>> with_flushed(std::vector<Tensor> exact, std::vector<Tensor> of_flushed_operands);

/// The backend's results for a module. The reference backend, which would be compared with itself, runs the
/// decompositions of fused ops instead.
std::vector<Tensor> run_on(backends::Backend& backend, const graph::Graph& graph, std::span<const Tensor> inputs);

}  // namespace alate::conformance
