#include "tests/conformance/subject.h"

#include "alate/error.h"
#include "graph/interpreter.h"
#include "graph/text/text.h"
#include "tests/conformance/runner.h"

namespace alate::conformance {
namespace {

constexpr std::string_view kInputs = "graph \"inputs\"";

std::vector<Tracked> track(const Subject& subject) {
  std::vector<Tracked> inputs;
  for (const Tensor& input : subject.inputs) inputs.push_back({input, {}});
  Random random(1);
  return track_graph(subject.graph, inputs, dims_of(subject), random);
}

}  // namespace

std::string print_subject(const Subject& subject) {
  graph::Builder b("inputs");
  for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
    const std::string& name = subject.graph.parameters()[i].name;
    b.output(name, b.constant(subject.inputs[i]));
  }
  return graph::print_graph(subject.graph) + graph::print_graph(b.finish());
}

Subject parse_subject(std::string_view text) {
  const std::size_t at = text.rfind(kInputs);
  if (at == std::string_view::npos)
    throw make_error(ErrorCode::invalid_argument, "there is no ", kInputs, " after the graph");
  Subject subject{graph::parse_graph(text.substr(0, at)), {}};
  subject.inputs = graph::interpret(graph::parse_graph(text.substr(at)), {}, base::Cancellation::never());
  dims_of(subject);
  return subject;
}

graph::DimValues dims_of(const Subject& subject) {
  if (subject.inputs.size() != subject.graph.parameters().size())
    throw make_error(ErrorCode::invalid_argument, "the graph takes ", subject.graph.parameters().size(),
                     " inputs, there are ", subject.inputs.size());
  graph::DimValues dims(subject.graph.dims());
  for (std::size_t i = 0; i < subject.inputs.size(); ++i)
    dims.bind(subject.graph.parameters()[i].shape, subject.inputs[i].shape(), subject.graph.parameters()[i].name);
  return dims;
}

std::optional<std::string> why_no_bound(const Subject& subject) {
  try {
    track(subject);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::optional<std::string> find_difference(backends::Backend& backend, const Subject& subject) {
  std::vector<Tracked> wanted;
  try {
    wanted = track(subject);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) return std::string("the reference: ") + error.what();
    return {};
  }
  try {
    const std::vector<Tensor> found = run_on(backend, subject.graph, subject.inputs);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (const auto what = difference(found[i], wanted[i]))
        return "output '" + subject.graph.outputs()[i].name + "': " + *what;
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) return {};
    return "the backend refuses what the reference computes: " + std::string(error.what());
  }
  return {};
}

}  // namespace alate::conformance
