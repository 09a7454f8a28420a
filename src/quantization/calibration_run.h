// What reaches the layers of a model while calibration texts go through it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "alate/model.h"
#include "backends/weight_store.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_model.h"
#include "models/encoder.h"
#include "models/weights/weights.h"
#include "quantization/gptq.h"

namespace alate::quantization {

/// A model as it is stored, with some of its tensors replaced.
struct ModelSource {
  const formats::Json& config;
  const formats::SafetensorsModel& file;
  const models::Architecture& architecture;
};

/// What makes the inputs of a layer, which says how unlike each other their channels are.
enum class InputKind {
  norm,
  attention,   // sums of values, weighted: the most alike
  activation,  // of one layer's outputs, which are read by this layer's kind alone: the least alike
  other,
};

/// The layers of a model and what they read, in the order of computation.
struct ModelLayers {
  std::vector<models::LinearLayer> linear;
  std::vector<models::LookupTable> tables;
  /// For a layer: the layer whose outputs are all that it reads, element by element through an activation, where
  /// nothing else reads them; its own index where there is none such.
  std::vector<std::size_t> fed_by;
  std::vector<InputKind> inputs;
};
ModelLayers find_layers(const ModelSource& source);

/// Runs calibration texts again and again, on the processor. Not thread-safe.
class CalibrationRun {
 public:
  CalibrationRun(ModelSource source, const PackedTokens& tokens);

  /// The inputs of layers (by index), a row a token, with `replaced` tensors and their quantization in place of the
  /// file's. Throws what compiling and running throw.
  std::vector<Inputs> inputs_of(std::span<const std::size_t> layers, const models::TensorsByName& replaced,
                                const models::QuantizationConfig& quantization);
  /// The mean of each channel of these inputs in the model as it is stored.
  std::vector<std::vector<double>> means_as_stored(std::span<const std::size_t> layers);

 private:
  ModelSource source_;
  std::vector<PackedTokens> batches_;
  std::size_t tokens_ = 0;
  std::shared_ptr<backends::WeightStore> store_;
};

}  // namespace alate::quantization
