// Which ops are written for which dtypes: all but those that are listed here.
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "alate/error.h"
#include "exchange/onnx_writer.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/module.h"
#include "tests/unit/graph/example_graphs.h"

namespace alate::exchange {
namespace {

constexpr std::array kMainDTypes{DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64};
constexpr std::size_t kCasesOfEach = 24;

// Why a graph is not written, or nothing.
std::optional<std::string> refusal(const graph::Graph& graph, int opset) {
  try {
    const OnnxModel model = write_onnx(graph, {.opset = opset});
    EXPECT_FALSE(model.bytes.empty());
    EXPECT_EQ(model.inputs.size(), graph.parameters().size());
    EXPECT_EQ(model.outputs.size(), graph.outputs().size());
    return std::nullopt;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    return error.message();
  }
}

struct Pairs {
  std::size_t count = 0;
  std::map<std::string, std::string> refused;  // by "op dtype"
};

Pairs main_pairs(int opset) {
  Pairs pairs;
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind == graph::OpKind::leaf) continue;
    for (const DType dtype : kMainDTypes) {
      if (!graph::contains(op.dtypes, dtype)) continue;
      ++pairs.count;
      std::vector<conformance::Case> cases = conformance::cases_of(op, dtype, 1, 64);
      const std::size_t step = cases.size() / kCasesOfEach + 1;
      for (std::size_t i = 0; i < cases.size(); i += step) {
        const auto reason = refusal(conformance::make_module(std::span(&cases[i], 1)).graph, opset);
        const std::string key = std::string(op.name) + " " + std::string(to_string(dtype));
        if (reason) pairs.refused.emplace(key, *reason + "\n    " + conformance::print_case(cases[i]));
      }
    }
  }
  return pairs;
}

// Writing all takes seconds in builds for sanitizers.
const Pairs& newest_pairs() {
  static const Pairs kPairs = main_pairs(kNewestOnnxOpset);
  return kPairs;
}

std::string listed(const Pairs& pairs) {
  std::string text;
  for (const auto& [pair, reason] : pairs.refused) text += pair + ": " + reason + "\n";
  return text;
}

TEST(OnnxPairs, AllButFewAreWritten) {
  const Pairs& pairs = newest_pairs();
  EXPECT_LE(pairs.refused.size() * 100, pairs.count * 3) << listed(pairs);
  // With other dtypes, or encodings, that ONNX Runtime does not have.
  const std::set<std::string> some_refused = {"bitcast f32",
                                              "bitcast f64",
                                              "bitcast i32",
                                              "bitcast i64",
                                              "convert bool",
                                              "convert f32",
                                              "convert f64",
                                              "convert i32",
                                              "convert i64",
                                              "quantized_dense f32",
                                              "quantized_dense f64",
                                              "quantized_embedding i32",
                                              "quantized_embedding i64"};
  std::set<std::string> refused;
  for (const auto& [pair, reason] : pairs.refused) refused.insert(pair);
  EXPECT_EQ(refused, some_refused) << listed(pairs);
}

TEST(OnnxPairs, OlderOpsetsLackTheBitsOfFloats) {
  const Pairs &newest = newest_pairs(), oldest = main_pairs(kOldestOnnxOpset);
  EXPECT_GT(oldest.refused.size(), newest.refused.size());
  for (const auto& [pair, reason] : oldest.refused) {
    EXPECT_TRUE(newest.refused.contains(pair) || reason.find("bits of floats") != std::string::npos) << reason;
  }
}

TEST(OnnxPairs, EveryExampleIsWrittenOrRefusedWithAReason) {
  for (const graph::Graph& graph : graph::example_graphs()) {
    const auto reason = refusal(graph, kNewestOnnxOpset);
    EXPECT_TRUE(!reason || reason->starts_with("onnx cannot say ")) << graph.name() << ": " << *reason;
  }
}

}  // namespace
}  // namespace alate::exchange
