#include "tests/conformance/runner.h"

#include <algorithm>
#include <iterator>

#include "alate/error.h"
#include "graph/decompose.h"
#include "graph/interpreter.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/cases/module.h"
#include "tests/conformance/compare.h"

namespace alate::conformance {
namespace {

// The right answers to a module: the reference's, and what flushing makes of it (see tolerances.h).
struct Answers {
  std::vector<std::vector<Tensor>> lists;
  std::vector<Tensor> magnitudes;

  std::vector<Tensor> of(std::size_t output) const {
    std::vector<Tensor> answers;
    for (const std::vector<Tensor>& list : lists) answers.push_back(list[output]);
    return answers;
  }
};

Verdict judge(const Case& subject, const Module& module, std::size_t which, std::span<const Tensor> found,
              const Answers& answers, const BackendTraits& traits) {
  const Tolerance tolerance = tolerance_of(subject, traits);
  for (std::size_t i = module.first_output[which]; i < module.first_output[which + 1]; ++i) {
    const Tensor* magnitude = answers.magnitudes.empty() ? nullptr : &answers.magnitudes[i];
    if (const auto what = difference(found[i], answers.of(i), magnitude, tolerance)) {
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

Module module_for(std::span<const Case> cases, std::string_view backend, Operands operands = Operands::as_they_are) {
  const BackendTraits traits = traits_of(backend);
  return make_module(cases, {.operands = operands,
                             .complex_edges = traits.complex_edges,
                             .powers_of_subnormals = traits.powers_of_subnormals,
                             .keeps_nan_bits = traits.keeps_nan_bits});
}

Answers answers_of(std::span<const Case> cases, const Module& module, std::string_view backend) {
  Answers answers{{graph::interpret(module.graph, module.inputs, base::Cancellation::never())}, {}};
  if (needs_magnitudes(cases)) {
    const Module positive = module_for(cases, backend, Operands::magnitudes);
    answers.magnitudes = graph::interpret(positive.graph, positive.inputs, base::Cancellation::never());
  }
  return answers;
}

void add_flushed(Answers& answers, std::span<const Case> cases, std::string_view backend) {
  const Module module = module_for(cases, backend, Operands::flushed);
  answers.lists = with_flushed(std::move(answers.lists.front()),
                               graph::interpret(module.graph, module.inputs, base::Cancellation::never()));
}

// Those that fail, by the answers there are.
std::vector<std::size_t> judge_all(std::span<const Case> cases, const Module& module, std::span<const Tensor> found,
                                   const Answers& answers, const BackendTraits& traits,
                                   std::vector<Verdict>& verdicts) {
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    verdicts[i] = judge(cases[i], module, i, found, answers, traits);
    if (verdicts[i].outcome == Outcome::failed) failed.push_back(i);
  }
  return failed;
}

// The cases whose verdict is `failed`.
std::vector<std::size_t> judge_module(std::span<const Case> cases, const Module& module, std::span<const Tensor> found,
                                      std::string_view backend, std::vector<Verdict>& verdicts) {
  const BackendTraits traits = traits_of(backend);
  Answers answers = answers_of(cases, module, backend);
  std::vector<std::size_t> failed = judge_all(cases, module, found, answers, traits, verdicts);
  if (failed.empty() || !traits.flushes_subnormals) return failed;
  add_flushed(answers, cases, backend);
  return judge_all(cases, module, found, answers, traits, verdicts);
}

}  // namespace

std::vector<std::vector<Tensor>> with_flushed(std::vector<Tensor> exact, std::vector<Tensor> of_flushed_operands) {
  std::vector<std::vector<Tensor>> lists = {std::move(exact), {}, std::move(of_flushed_operands), {}};
  for (const std::size_t i : {0, 2}) std::ranges::transform(lists[i], std::back_inserter(lists[i + 1]), flushed);
  return lists;
}

const backends::Device* usable_device(std::span<const backends::Device> devices) {
  const auto found = std::ranges::find_if(devices, [](const backends::Device& device) { return !device.unusable; });
  return found == devices.end() ? nullptr : &*found;
}

std::vector<Tensor> run_on(backends::Backend& backend, const graph::Graph& graph, std::span<const Tensor> inputs) {
  const bool is_reference = backend.name() == "reference";
  const graph::Graph plain =
      is_reference ? graph::decompose(graph, [](const graph::Graph&, const graph::Node&) { return false; }) : graph;
  const std::unique_ptr<backends::Executable> executable = backend.compile(plain, {});
  const std::vector<backends::Device> devices = backend.devices();
  const backends::Device* device = usable_device(devices);
  if (device == nullptr) throw make_error(ErrorCode::unavailable, backend.name(), " has no usable device");
  std::vector<backends::Buffer> buffers, outputs(graph.outputs().size());
  for (const Tensor& input : inputs) buffers.push_back(backend.upload(input, *device));
  executable->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
  std::vector<Tensor> results;
  for (const backends::Buffer& output : outputs) results.push_back(backend.download(output));
  return results;
}

Verdict run_alone(backends::Backend& backend, const Case& subject) {
  try {
    const Module module = module_for({&subject, 1}, backend.name());
    std::vector<Tensor> found;
    try {
      found = run_on(backend, module.graph, module.inputs);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return {Outcome::unsupported, error.message()};
    }
    std::vector<Verdict> verdicts(1);
    judge_module({&subject, 1}, module, found, backend.name(), verdicts);
    return verdicts[0];
  } catch (const Error& error) {
    return {Outcome::failed, error.what()};
  }
}

std::vector<Verdict> run_together(backends::Backend& backend, std::span<const Case> cases) {
  std::vector<Verdict> verdicts(cases.size());
  std::vector<std::size_t> again;
  try {
    const Module module = module_for(cases, backend.name());
    const std::vector<Tensor> found = run_on(backend, module.graph, module.inputs);
    again = judge_module(cases, module, found, backend.name(), verdicts);
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
