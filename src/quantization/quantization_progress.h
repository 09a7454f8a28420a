// How far a quantization is, for whoever waits for it.
#pragma once

#include <cstddef>
#include <functional>

namespace alate::quantization {

enum class QuantizationStage {
  layers,   // calibrated and rounded, one after the other
  writing,  // tensors of the output
};

struct QuantizationProgress {
  QuantizationStage stage = QuantizationStage::layers;
  std::size_t done = 0, total = 0;  // layers or tensors
  double share = 0;                 // of the stage, from 0 to 1, with what has been done of the next layer
};

/// Called on the thread of the quantization, at least after each batch of calibration texts and each tensor. What it
/// throws ends the quantization.
using ReportQuantization = std::function<void(const QuantizationProgress&)>;

}  // namespace alate::quantization
