// Calibration runs: the inputs of a model's layers while calibration texts go through it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "alate/model.h"
#include "backends/weight_store.h"
#include "formats/json.h"
#include "formats/weight_source.h"
#include "models/encoder.h"
#include "models/weights/weights.h"
#include "quantization/gptq.h"

namespace alate::quantization {

/// A model as it is stored, with some of its tensors replaced.
struct ModelSource {
  const formats::Json& config;
  const formats::WeightSource& file;
  const models::Architecture& architecture;
};

/// The source of a layer's inputs, which determines how much their channels differ.
enum class InputKind {
  norm,
  attention,   // weighted sums of values: the most uniform
  activation,  // of one layer's outputs that nothing else reads: the least uniform
  other,
};

/// The layers of a model and their inputs, in the order of computation.
struct ModelLayers {
  std::vector<models::LinearLayer> linear;
  std::vector<models::LookupTable> tables;
  /// For each layer: the layer that alone feeds it, element by element through an activation, and whose outputs nothing
  /// else reads; its own index where there is none.
  std::vector<std::size_t> fed_by;
  std::vector<InputKind> inputs;
};
ModelLayers find_layers(const ModelSource& source);

/// Runs calibration texts repeatedly, on the processor. Not thread-safe.
class CalibrationRun {
 public:
  /// `ran_batch` is called after each batch of texts has gone through; what it throws ends the run.
  CalibrationRun(ModelSource source, const PackedTokens& tokens, std::function<void()> ran_batch = {});

  /// How often all the texts take `ran_batch` to be called when the inputs of some layers are asked for together.
  std::size_t batches() const { return batches_.size(); }

  /// The inputs of layers (by index), one row for each token, with the `replaced` tensors and their quantization in
  /// place of the file's. Throws the errors of compiling and running.
  std::vector<Inputs> inputs_of(std::span<const std::size_t> layers, const models::TensorsByName& replaced,
                                const models::QuantizationConfig& quantization);
  /// The mean of each channel of these inputs in the model as stored.
  std::vector<std::vector<double>> means_as_stored(std::span<const std::size_t> layers);

 private:
  ModelSource source_;
  std::vector<PackedTokens> batches_;
  std::size_t tokens_ = 0;
  std::function<void()> ran_batch_;
  std::shared_ptr<backends::WeightStore> store_;
};

}  // namespace alate::quantization
