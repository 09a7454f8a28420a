#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "alate/error.h"
#include "formats/safetensors/safetensors.h"
#include "graph/interpreter.h"
#include "graph/text/text.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/runner.h"
#include "tests/source_folder.h"

namespace alate::conformance {
namespace {

// Sums are of few small integers here: a bound by the largest element stands for one by magnitudes.
Tolerance tolerance_of_golden(const graph::Graph& graph, const BackendTraits& traits) {
  const graph::Node& node = graph.nodes().back();
  Case subject{.op = node.op, .attributes = node.attributes};
  for (const graph::Value operand : node.operands) subject.operands.push_back({graph.shape(operand)});
  Tolerance tolerance = tolerance_of(subject, traits);
  if (tolerance.bound == Bound::of_magnitudes) tolerance.bound = Bound::of_largest;
  return tolerance;
}

// Dtypes that safetensors does not have are stored as bytes.
Tensor tensor_of(const formats::SafetensorsFile& file, const std::string& name, const Shape& shape) {
  const Tensor stored = file.tensor(name);
  if (stored.shape() == shape) return stored;
  if (stored.dtype() != DType::u8 || stored.byte_count() != shape.byte_count())
    throw make_error(ErrorCode::invalid_argument, name, " is ", to_string(stored.shape()), ", the graph has ",
                     to_string(shape));
  Tensor tensor = Tensor::uninitialized(shape);
  std::ranges::copy(stored.bytes(), tensor.mutable_bytes().begin());
  return tensor;
}

std::optional<std::string> difference_of_outputs(const graph::Graph& graph, std::span<const Tensor> found,
                                                 const std::vector<std::vector<Tensor>>& answers,
                                                 const BackendTraits& traits) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<Tensor> right;
    for (const std::vector<Tensor>& list : answers) right.push_back(list[i]);
    if (auto what = difference(found[i], right, nullptr, tolerance_of_golden(graph, traits)))
      return "result " + std::to_string(i) + ": " + *what;
  }
  return std::nullopt;
}

std::optional<std::string> golden_difference(backends::Backend& backend, const formats::SafetensorsFile& file,
                                             const std::string& number, const graph::Graph& graph) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < graph.parameters().size(); ++i)
    inputs.push_back(tensor_of(file, number + "/in" + std::to_string(i), graph.parameters()[i].shape));
  const std::vector<Tensor> found = run_on(backend, graph, inputs);
  std::vector<Tensor> wanted;
  for (std::size_t i = 0; i < found.size(); ++i)
    wanted.push_back(tensor_of(file, number + "/out" + std::to_string(i), graph.shape(graph.outputs()[i].value)));
  const BackendTraits traits = traits_of(backend.name());
  const std::optional<std::string> what = difference_of_outputs(graph, found, {{wanted}}, traits);
  if (!what || !traits.flushes_subnormals) return what;
  std::vector<Tensor> of_flushed = inputs;
  for (Tensor& input : of_flushed) input = flushed(input);
  return difference_of_outputs(
      graph, found, with_flushed(wanted, graph::interpret(graph, of_flushed, base::Cancellation::never())), traits);
}

Verdict golden_verdict(backends::Backend& backend, const formats::SafetensorsFile& file, const std::string& number,
                       const graph::Graph& graph) {
  try {
    const std::optional<std::string> what = golden_difference(backend, file, number, graph);
    return what ? Verdict{Outcome::failed, *what} : Verdict{};
  } catch (const Error& error) {
    return {error.code() == ErrorCode::unsupported ? Outcome::unsupported : Outcome::failed, error.what()};
  }
}

// Whether golden `i` of `total` is among so many that are spread over all evenly.
bool is_among(std::optional<std::size_t> count, std::size_t i, std::size_t total) {
  return !count || *count >= total || (i + 1) * *count / total != i * *count / total;
}

// Ops without a golden of their own must be named here, with the reason.
constexpr graph::Op kNotInJax[] = {graph::Op::dequantize};  // tests/golden/encodings.txt has what gguf gives

// Standard ops and ops with regions that no golden is of.
std::size_t count_ops_without_golden(const std::set<std::string, std::less<>>& ops) {
  std::size_t missing = 0;
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind != graph::OpKind::standard && op.kind != graph::OpKind::region) continue;
    if (ops.contains(op.name) || std::ranges::find(kNotInJax, op.op) != std::end(kNotInJax)) continue;
    std::printf("FAILED %s: no golden is of it\n", std::string(op.name).c_str());
    ++missing;
  }
  return missing;
}

}  // namespace

int run_golden(backends::Backend& backend, const Options& options) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "tests/golden/ops")) {
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::size_t passed = 0, failed = 0, unsupported = 0, place = 0, total = 0;
  for (const std::filesystem::path& path : paths) total += formats::SafetensorsFile::open(path)->metadata().size();
  std::set<std::string, std::less<>> ops;
  for (const std::filesystem::path& path : paths) {
    const auto file = formats::SafetensorsFile::open(path);
    for (const auto& [number, text] : file->metadata()) {
      const graph::Graph graph = graph::parse_graph(text);
      ops.insert(graph.name());
      if (!is_among(options.count, place++, total) || !is_chosen(options, graph.name())) continue;
      const Verdict verdict = golden_verdict(backend, *file, number, graph);
      const std::string which = "golden " + number + " of " + path.filename().string();
      if (verdict.outcome == Outcome::passed) {
        ++passed;
      } else if (verdict.outcome == Outcome::unsupported) {
        std::printf("unsupported %s: %s\n", which.c_str(), verdict.detail.c_str());
        ++unsupported;
      } else {
        std::printf("FAILED %s\n  %s\n%s", which.c_str(), verdict.detail.c_str(), text.c_str());
        ++failed;
      }
    }
  }
  failed += count_ops_without_golden(ops);
  std::printf("%zu unsupported\n%zu passed, %zu failed\n", unsupported, passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace alate::conformance
