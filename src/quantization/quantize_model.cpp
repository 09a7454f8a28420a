#include "quantization/quantize_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/log.h"
#include "quantization/layers.h"
#include "tensor/half.h"
#include "tensor/rotation.h"

namespace alate::quantization {
namespace {

// Rotated inputs have few outliers: rounding them moves vectors of all-MiniLM-L6-v2 by 0.7e-4 of the cosine in one
// group each; more groups gain less than 0.2e-4.
constexpr std::int64_t kGroupsForRotated = 1;
constexpr std::int64_t kMinGroupsForOrdered = 4;
// Groups of other inputs where no number is asked for, chosen for all-MiniLM-L6-v2. Rounding in one group each moves
// its vectors, in units of 1e-4 of the cosine, by 0.9 for inputs of query, key and value (in two groups by 0.5, in four
// by 0.3), by 0.4 for those of the layer before the activation (0.3, 0.2), by 1.7 for those after it (in eight by 0.5),
// and by 0.06 for attention's results.
constexpr std::int64_t kGroupsForNorms = 2, kGroupsForAttention = 1, kGroupsForOrdered = 4, kGroupsForOthers = 4;
// The group size is a multiple of this, the width that products of 8-bit integers take at a time.
constexpr std::int64_t kGroupSizeMultiple = 16;

using models::LinearLayer;

// The tensor in f16, empty where numbers are out of its range. Tables whose rows are added to others are in range.
std::optional<Tensor> as_f16(const Tensor& floats) {
  constexpr float kLargest = 65504;
  const std::span<const float> values = floats.values<float>();
  if (!std::ranges::all_of(values, [](float value) { return std::abs(value) <= kLargest; })) return {};
  Tensor rounded = Tensor::uninitialized({DType::f16, floats.shape().dims});
  const std::span<std::byte> bytes = rounded.mutable_bytes();
  tensor::float_to_f16(values, {reinterpret_cast<std::uint16_t*>(bytes.data()), bytes.size() / 2});
  return rounded;
}

// The rows of all, which have the same columns.
Inputs joined(std::vector<Inputs> all) {
  Inputs whole = std::move(all.front());
  for (const Inputs& next : std::span(all).subspan(1))
    whole.values.insert(whole.values.end(), next.values.begin(), next.values.end());
  return whole;
}

std::vector<double> mean_of(const std::vector<std::vector<double>>& all) {
  std::vector<double> mean(all.front().size());
  for (const std::vector<double>& next : all) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += next[i] / static_cast<double>(all.size());
  }
  return mean;
}

class Quantizer {
 public:
  Quantizer(const ModelSource& source, const PackedTokens& calibration, std::optional<std::int64_t> groups,
            const ReportQuantization& report)
      : source_(source),
        weights_(source.file, std::string(models::weight_prefix(source.architecture, source.config))),
        run_(source, calibration, [this] { report_steps(1); }),
        groups_(groups),
        report_(report) {}

  QuantizedModel quantize() {
    layers_ = find_layers(source_);
    result_.config.is_present = true;
    for (const models::LookupTable& table : layers_.tables) round_table(table);
    const std::vector<std::vector<std::size_t>> groups = layers_by_input();
    for (const std::vector<std::size_t>& layers : groups) {
      total_ += layers.size();
      total_steps_ += steps_of(layers);
    }
    for (const std::vector<std::size_t>& layers : groups) quantize_layers_of_input(layers);
    if (result_.layers == 0)
      throw Error(ErrorCode::unsupported, "the model has no linear layer that could be computed in 8 bits");
    return std::move(result_);
  }

 private:
  // The layers that are rounded, those of one input together. Layers that share their weights (ALBERT's) are rounded
  // once, for the inputs of all of them.
  std::vector<std::vector<std::size_t>> layers_by_input() const {
    std::vector<std::vector<std::size_t>> groups;
    std::set<std::string_view> seen;
    for (std::size_t first = 0; first < layers_.linear.size();) {
      std::vector<std::size_t> layers;
      for (; first < layers_.linear.size() && (layers.empty() || reads_as(layers.front(), first)); ++first)
        layers.push_back(first);
      const LinearLayer& front = layers_.linear[layers.front()];
      if (front.rounding == models::Rounding::never || seen.contains(front.module) ||
          result_.tensors.contains(front.module + ".weight"))
        continue;
      for (const std::size_t i : layers) seen.insert(layers_.linear[i].module);
      groups.push_back(std::move(layers));
    }
    return groups;
  }

  // What is counted of these layers: batches of texts that go through, before and after what is quantized already, and
  // layers.
  std::size_t steps_of(std::span<const std::size_t> layers) const {
    const std::size_t uses = uses_of(layers_.linear[layers.front()].module).size();
    return (uses + 1) * run_.batches() + layers.size();
  }
  void report_steps(std::size_t steps) {
    steps_ += steps;
    if (report_)
      report_({.done = result_.layers,
               .total = total_,
               .share = static_cast<double>(steps_) / static_cast<double>(std::max(total_steps_, steps_))});
  }

  bool reads_as(std::size_t a, std::size_t b) const {
    return layers_.linear[a].x == layers_.linear[b].x && layers_.linear[b].rounding == models::Rounding::allowed;
  }

  // Only inputs that texts make: a module may have constant ones too (DeBERTa's tables of distances).
  std::vector<std::size_t> uses_of(const std::string& module) const {
    std::vector<std::size_t> uses;
    for (std::size_t i = 0; i < layers_.linear.size(); ++i) {
      if (layers_.linear[i].module == module && layers_.linear[i].rounding == models::Rounding::allowed)
        uses.push_back(i);
    }
    return uses;
  }

  void put(const std::string& stored, tensor::ScaledRows rows) {
    result_.tensors.insert_or_assign(stored, std::move(rows.stored));
    result_.tensors.insert_or_assign(stored + "_scale", std::move(rows.scales));
  }

  void round_table(const models::LookupTable& table) {
    if (table.rounding == models::Rounding::allowed)
      return put(table.weight, tensor::round_rows(weights_.floats(table.weight)));
    if (source_.file.info(table.weight)->shape.dtype != DType::f32) return;
    if (std::optional<Tensor> rounded = as_f16(weights_.floats(table.weight)))
      result_.tensors.insert_or_assign(table.weight, std::move(*rounded));
  }

  // Whether a single layer feeds these through an activation, so that its outputs may be reordered.
  bool may_order(std::span<const std::size_t> layers) const { return layers_.fed_by[layers.front()] < layers.front(); }

  // The number of groups for inputs that are not rotated.
  std::int64_t wanted_groups(std::span<const std::size_t> layers) const {
    if (groups_) return may_order(layers) ? std::max(2 * *groups_, kMinGroupsForOrdered) : *groups_;
    switch (layers_.inputs[layers.front()]) {
      case InputKind::activation: return kGroupsForOrdered;
      case InputKind::attention: return kGroupsForAttention;
      case InputKind::norm: return kGroupsForNorms;
      case InputKind::other: break;
    }
    return kGroupsForOthers;
  }

  // The wanted number of groups, or the next lower one that divides the inputs well.
  models::InputRounding rounding_of(std::span<const std::size_t> layers) const {
    const std::int64_t in = layers_.linear[layers.front()].in, rotation = tensor::rotation_of(in);
    const std::int64_t multiple = rotation != 0 ? rotation : kGroupSizeMultiple;
    std::int64_t groups = rotation != 0 ? groups_.value_or(kGroupsForRotated) : wanted_groups(layers);
    while (groups > 1 && in % (groups * multiple) != 0) --groups;
    return {.groups = groups, .rotation = rotation};
  }

  void order_outputs(const LinearLayer& layer, std::span<const std::size_t> order) {
    for (const char* part : {".weight", ".weight_scale", ".bias"}) {
      Tensor& tensor = result_.tensors.at(layer.module + part);
      tensor = ordered_rows(tensor, order);
    }
  }

  void quantize_layers_of_input(std::span<const std::size_t> layers) {
    const LinearLayer& first = layers_.linear[layers.front()];
    base::log(base::LogLevel::debug, "quantizing",
              {{"layer", first.module}, {"of_one_input", std::to_string(layers.size())}});
    const std::vector<std::size_t> uses = uses_of(first.module);
    std::vector<double> means = mean_of(run_.means_as_stored(uses));
    Inputs inputs = joined(run_.inputs_of(uses, result_.tensors, result_.config));
    std::vector<Tensor> weights;
    for (const std::size_t i : layers) weights.push_back(weights_.floats(layers_.linear[i].module + ".weight"));
    std::vector<float> smoothing = smoothing_of(inputs, weights);
    for (std::size_t i = 0; i < inputs.values.size(); ++i) inputs.values[i] *= smoothing[i % inputs.columns];
    std::vector<std::vector<double>> wanted;  // the mean of each layer's outputs, without bias
    for (const Tensor& weight : weights) wanted.push_back(mean_outputs(weight, means));
    for (Tensor& weight : weights) weight = divided_columns(weight, smoothing);

    const models::InputRounding rounding = rounding_of(layers);
    if (rounding.rotation > 1) {
      const auto length = static_cast<std::size_t>(rounding.rotation);
      tensor::rotate(std::span(inputs.values), length);
      for (Tensor& weight : weights) weight = tensor::rotated_rows(weight, length, 1.0F / static_cast<float>(length));
    } else if (may_order(layers)) {
      const std::vector<std::size_t> order = by_falling_range(inputs);
      order_outputs(layers_.linear[layers_.fed_by[layers.front()]], order);
      inputs = ordered_columns(inputs, order);
      for (Tensor& weight : weights) weight = ordered_columns(weight, order);
      std::vector<float> ordered;
      for (const std::size_t i : order) ordered.push_back(smoothing[i]);
      smoothing = std::move(ordered);
    }
    round_to_8_bits(inputs, rounding.groups);
    means = column_means(inputs);
    const GptqPlan plan(covariance(inputs, means), inputs.columns);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LinearLayer& layer = layers_.linear[layers[i]];
      if (rounding != result_.config.inputs) result_.config.inputs_of[layer.module] = rounding;
      quantize_layer(layer, plan.round(weights[i], rounding.groups), smoothing, wanted[i], means);
    }
  }

  void quantize_layer(const LinearLayer& layer, tensor::ScaledRows rows, std::span<const float> smoothing,
                      std::span<const double> wanted, std::span<const double> means) {
    std::vector<float> bias(static_cast<std::size_t>(layer.out));  // a layer without one gets one
    if (source_.file.contains(layer.module + ".bias")) {
      const Tensor stored = weights_.floats(layer.module + ".bias");
      bias.assign(stored.values<float>().begin(), stored.values<float>().end());
    }
    const std::vector<double> found = mean_outputs(rows, means);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(double{bias[i]} + wanted[i] - found[i]);
    result_.tensors.insert_or_assign(layer.module + ".bias", Tensor::from<float>({layer.out}, bias));
    result_.tensors.insert_or_assign(layer.module + ".smoothing", Tensor::from<float>({layer.in}, smoothing));
    put(layer.module + ".weight", std::move(rows));
    ++result_.layers;
    report_steps(1);
  }

  const ModelSource& source_;
  models::Weights weights_;
  CalibrationRun run_;
  std::optional<std::int64_t> groups_;
  const ReportQuantization& report_;
  std::size_t total_ = 0, steps_ = 0, total_steps_ = 0;  // layers; what report_steps counts
  ModelLayers layers_;
  QuantizedModel result_;
};

}  // namespace

QuantizedModel quantize_model(const ModelSource& source, const PackedTokens& calibration,
                              std::optional<std::int64_t> groups, const ReportQuantization& report) {
  return Quantizer(source, calibration, groups, report).quantize();
}

}  // namespace alate::quantization
