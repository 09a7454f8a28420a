// Quantization of a model's weights to 8 bits, calibrated on texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "alate/model.h"
#include "quantization/calibration_run.h"
#include "quantization/quantization_progress.h"

namespace alate::quantization {

struct QuantizedModel {
  models::TensorsByName tensors;  // replacements for the file's tensors, and new ones
  models::QuantizationConfig config;
  std::size_t layers = 0;  // that now compute in 8 bits
};

/// Quantizes product by product in the order of computation, each with the inputs that the model as quantized so far
/// gives it: smoothing, weights by GPTQ over the rounded inputs, and biases adjusted so that the mean of the outputs
/// over `calibration` is unchanged. Layers that read one input (query, key, value) share their smoothing.
/// Inputs whose number of channels is a multiple of tensor::kRotation are rotated, in blocks of that length, and each
/// row is rounded in `groups` groups, or the next fewer whose size is a multiple of that length; in one group without
/// `groups`. Among other inputs, those after an activation, whose channels differ most, are reordered by range (the
/// layer before gives them in that order). They are rounded in `groups` groups, reordered ones in twice as many and at
/// least 4, or the next fewer that divide them well; without `groups`, in as many as their kind needs. Word tables get
/// a scale for each row; other tables, of which every token adds a row, become f16. Layers of heads stay as they are.
/// Throws unsupported where the model has nothing to quantize, invalid_argument for weights that are not finite, and
/// what `report` throws.
QuantizedModel quantize_model(const ModelSource& source, const PackedTokens& calibration,
                              std::optional<std::int64_t> groups = {}, const ReportQuantization& report = {});

}  // namespace alate::quantization
