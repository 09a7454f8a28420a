// A model's weights in 8 bits, chosen by what calibration texts make of its layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "alate/model.h"
#include "quantization/calibration_run.h"

namespace alate::quantization {

struct QuantizedModel {
  models::TensorsByName tensors;  // that replace those of the file, or are new
  models::QuantizationConfig config;
  std::size_t layers = 0;  // that compute in 8 bits now
};

/// Product by product in the order of computation, each with the inputs that the model as quantized so far gives it:
/// smoothing, weights by GPTQ over the rounded inputs, and biases so that the mean of the outputs over `calibration`
/// stays what it was. Layers that read one input (query, key, value) are smoothed alike. Inputs whose number is a
/// multiple of tensor::kRotation are rotated, so many at a time, and rounded in `runs` runs of a row, or the next fewer
/// that are such multiples, in one without a number. Of other inputs those behind an activation, whose channels differ
/// most, are put in the order of their range (the layer before gives them so); they are rounded in `runs` runs, ordered
/// ones in twice as many and 4 at least, where their number divides so; without a number in as many as their kind
/// needs. Tables of words get a scale a row; other tables, of which every token adds a row, become f16. Layers of heads
/// stay as they are. Throws unsupported where the model has nothing to quantize, invalid_argument for weights that are
/// not finite.
QuantizedModel quantize_model(const ModelSource& source, const PackedTokens& calibration,
                              std::optional<std::int64_t> runs = {});

}  // namespace alate::quantization
