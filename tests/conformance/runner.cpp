#include "tests/conformance/runner.h"

#include <algorithm>

#include "alate/error.h"
#include "graph/decompose.h"
#include "graph/interpreter.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/module.h"

namespace alate::conformance {
namespace {

Verdict judge(const Case& subject, const Module& module, std::size_t which, std::span<const Tensor> found,
              std::span<const Tensor> wanted, std::span<const Tensor> magnitudes) {
  const Tolerance tolerance = tolerance_of(subject);
  for (std::size_t i = module.first_output[which]; i < module.first_output[which + 1]; ++i) {
    const Tensor* magnitude = magnitudes.empty() ? nullptr : &magnitudes[i];
    if (const auto what = difference(found[i], wanted[i], magnitude, tolerance)) {
      const std::string result = std::to_string(i - module.first_output[which]);
      return {Outcome::failed, "result " + result + ": " + *what};
    }
  }
  return {};
}

bool needs_magnitudes(std::span<const Case> cases) {
  return std::any_of(cases.begin(), cases.end(),
                     [](const Case& subject) { return tolerance_of(subject).bound == Bound::of_magnitudes; });
}

}  // namespace

std::vector<Tensor> run_on(backends::Backend& backend, const graph::Graph& graph, std::span<const Tensor> inputs) {
  const bool is_reference = backend.name() == "reference";
  const graph::Graph plain =
      is_reference ? graph::decompose(graph, [](const graph::Graph&, const graph::Node&) { return false; }) : graph;
  const std::unique_ptr<backends::Executable> executable = backend.compile(plain, {});
  const backends::Device device = backend.devices().at(0);
  std::vector<backends::Buffer> buffers, outputs(graph.outputs().size());
  for (const Tensor& input : inputs) buffers.push_back(backend.upload(input, device));
  executable->run(buffers, outputs, {});
  std::vector<Tensor> results;
  for (const backends::Buffer& output : outputs) results.push_back(backend.download(output));
  return results;
}

Verdict run_alone(backends::Backend& backend, const Case& subject) {
  try {
    const Module module = make_module({&subject, 1});
    std::vector<Tensor> found;
    try {
      found = run_on(backend, module.graph, module.inputs);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return {Outcome::unsupported, error.message()};
    }
    const std::vector<Tensor> wanted = graph::interpret(module.graph, module.inputs);
    std::vector<Tensor> magnitudes;
    if (needs_magnitudes({&subject, 1})) {
      const Module positive = make_module({&subject, 1}, Signs::magnitudes);
      magnitudes = graph::interpret(positive.graph, positive.inputs);
    }
    return judge(subject, module, 0, found, wanted, magnitudes);
  } catch (const Error& error) {
    return {Outcome::failed, error.what()};
  }
}

std::vector<Verdict> run_together(backends::Backend& backend, std::span<const Case> cases) {
  std::vector<Verdict> verdicts(cases.size());
  std::vector<std::size_t> again;
  try {
    const Module module = make_module(cases);
    const std::vector<Tensor> found = run_on(backend, module.graph, module.inputs);
    const std::vector<Tensor> wanted = graph::interpret(module.graph, module.inputs);
    std::vector<Tensor> magnitudes;
    if (needs_magnitudes(cases)) {
      const Module positive = make_module(cases, Signs::magnitudes);
      magnitudes = graph::interpret(positive.graph, positive.inputs);
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      verdicts[i] = judge(cases[i], module, i, found, wanted, magnitudes);
      if (verdicts[i].outcome == Outcome::failed) again.push_back(i);
    }
  } catch (const Error&) {
    for (std::size_t i = 0; i < cases.size(); ++i) again.push_back(i);
  }
  for (const std::size_t i : again) {
    const Verdict alone = run_alone(backend, cases[i]);
    if (alone.outcome == Outcome::passed && verdicts[i].outcome == Outcome::failed) {
      verdicts[i].detail += "\n    (passes alone: it fails in one module with the " + std::to_string(cases.size() - 1) +
                            " other cases of its op and dtype around it)";
    } else {
      verdicts[i] = alone;
    }
  }
  return verdicts;
}

}  // namespace alate::conformance
