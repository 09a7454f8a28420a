// Every architecture in smaller types: the layers of recorded tiny models, and of published models' real widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "alate/backend_choice.h"
#include "alate/model.h"
#include "alate/tensor.h"
#include "backends/registry.h"
#include "base/files/mapped_file.h"
#include "base/threads/cancellation.h"
#include "formats/json.h"
#include "graph/attributes.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "models/encoder.h"
#include "models/weights/weight_settings.h"
#include "models/weights/weights.h"
#include "runtime/loading/entry_point.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weight_source.h"
#include "tests/unit/quantization/layer_errors.h"

namespace alate::quantization {
namespace {

namespace fs = std::filesystem;

// Every so many outputs of a wide layer are looked at, and every so many rows of a table that goes through one.
constexpr std::size_t kMostOutputs = 128, kMostRows = 16;

struct Recorded {
  explicit Recorded(const std::map<std::string, std::string>& texts)
      : config(formats::parse_json(texts.at("config.json"), "config.json")),
        source(formats::parse_json(texts.at("shapes.json"), "shapes.json")),
        architecture(models::find_architecture(config)) {}

  formats::Json config;
  tests::TinyWeightSource source;
  const models::Architecture& architecture;
};

/// A model computed in one type: the inputs and outputs of its layers for a few texts.
class LayersIn {
 public:
  LayersIn(const Recorded& model, ComputeType type)
      : model_(model),
        weights_(model.source, std::string(models::weight_prefix(model.architecture, model.config)),
                 {.quantization = {}, .dtype = type}) {
    graph::Builder builder("layers");
    const models::EncoderInputs inputs = models::declare_encoder_inputs(builder);
    models::build_encoder(model.architecture, builder, model.config, weights_, inputs, models::HeadChoice::none);
    for (const models::LinearLayer& layer : weights_.linear_layers()) {
      const std::string number = std::to_string(attributes_.size());
      const graph::Node& node = builder.so_far().node(layer.y.node);
      attributes_.push_back(node.attributes);
      weight_types_.push_back(builder.so_far().shape(node.operands.at(1)).dtype);
      builder.output("x" + number, layer.x);
      builder.output("y" + number, layer.y);
    }
    runtime::Feeders feeders;
    const models::EncoderLimits limits = model.architecture.limits(model.config);
    feeders.push_back(runtime::feed_packed_tokens(limits));
    const graph::Graph graph = builder.finish();
    const runtime::EntryPoint program(backends::get_backend("cpu").compile(graph, {}), std::move(feeders),
                                      models::counted_dims(inputs), graph.dims());
    PackedTokens tokens;
    tokens.lengths = {9, 4, 2};
    for (std::int64_t i = 0; i < 15; ++i)
      tokens.ids.push_back(static_cast<std::int32_t>((7 + 13 * i) % limits.vocabulary));
    values_ = program.run(tokens, {}, {.cancellation = base::Cancellation::never()});
  }

  std::span<const models::LinearLayer> layers() const { return weights_.linear_layers(); }

  bool is_rounded(std::size_t index) const { return rounding_of(index).kind != Rounded::Kind::float32; }
  /// What layer `index` is off by, given its own inputs.
  LayerErrors errors_of(std::size_t index) const {
    const models::LinearLayer& layer = layers()[index];
    const Tensor weight = weights_.floats(layer.module + ".weight");
    const bool has_bias = model_.source.contains(layer.module + ".bias");
    const Tensor bias = has_bias ? weights_.floats(layer.module + ".bias") : Tensor::zeros({DType::f32, {layer.out}});
    const std::span<const float> xs = values_[2 * index].values<float>(), ys = values_[2 * index + 1].values<float>();
    const auto in = static_cast<std::size_t>(layer.in), out = static_cast<std::size_t>(layer.out);
    const Rounded rounded = rounding_of(index);
    LayerErrors errors;
    std::map<std::size_t, Operand> rows;
    const std::size_t count = xs.size() / in;
    for (std::size_t row = 0; row < count; row += count / std::min(count, kMostRows))
      rows.emplace(row, rounded.input(xs.subspan(row * in, in)));
    for (std::size_t o = 0; o < out; o += out / std::min(out, kMostOutputs)) {
      const Operand w = rounded.weight(weight.values<float>().subspan(o * in, in));
      for (const auto& [row, x] : rows) errors.add(double{ys[row * out + o]} - double{bias.values<float>()[o]}, x, w);
    }
    return errors;
  }

 private:
  /// How the operands of layer `index` are rounded, by its node.
  Rounded rounding_of(std::size_t index) const {
    if (const auto* quantized = std::get_if<graph::QuantizedDense>(&attributes_[index]))
      return {.kind = Rounded::Kind::int8,
              .groups = static_cast<std::size_t>(quantized->activation_groups),
              .rotation = static_cast<std::size_t>(quantized->rotation)};
    switch (weight_types_[index]) {
      case DType::bf16: return {.kind = Rounded::Kind::bfloat16};
      case DType::f16: return {.kind = Rounded::Kind::float16};
      default: return {.kind = Rounded::Kind::float32};
    }
  }

  const Recorded& model_;
  models::Weights weights_;
  std::vector<graph::Attributes> attributes_;  // of each layer's node
  std::vector<DType> weight_types_;
  std::vector<Tensor> values_;  // x and y of each layer
};

// Few numbers are rounded in a tiny layer, many in one of real width, where errors are near their expectation.
struct Golden {
  std::string name;
  double least, most;  // of LayerErrors::over_derived
};

class LayersOfArchitectures : public testing::TestWithParam<Golden> {};

TEST_P(LayersOfArchitectures, AreOffByWhatTheirStepsSay) {
  const Recorded recorded(tests::golden_texts(GetParam().name));
  for (const ComputeType type : {ComputeType::int8, ComputeType::bfloat16, ComputeType::float16}) {
    const LayersIn model(recorded, type);
    ASSERT_FALSE(model.layers().empty());
    for (std::size_t i = 0; i < model.layers().size(); ++i) {
      const LayerErrors errors = model.errors_of(i);
      const std::string what = std::string(to_string(type)) + " " + model.layers()[i].module;
      EXPECT_EQ(model.is_rounded(i), model.layers()[i].rounding == models::Rounding::allowed) << what;
      EXPECT_LE(errors.worst_share, 1) << what;
      if (!model.is_rounded(i)) continue;
      EXPECT_GT(errors.over_derived(), GetParam().least) << what;
      EXPECT_LT(errors.over_derived(), GetParam().most) << what;
    }
  }
}

std::vector<Golden> goldens_of(const std::string& kind, double least, double most) {
  std::vector<Golden> goldens;
  for (const std::string& name : tests::golden_names(kind)) goldens.push_back({kind + "/" + name, least, most});
  return goldens;
}
std::string name_of(const testing::TestParamInfo<Golden>& golden) {
  std::string name = fs::path(golden.param.name).filename().string();
  std::ranges::replace(name, '.', '_');
  return name;
}
void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

INSTANTIATE_TEST_SUITE_P(Tiny, LayersOfArchitectures, testing::ValuesIn(goldens_of("architectures", 0.5, 1.6)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Real, LayersOfArchitectures, testing::ValuesIn(goldens_of("real_shapes", 0.85, 1.15)),
                         name_of);

}  // namespace
}  // namespace alate::quantization
