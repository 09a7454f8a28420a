// dtype `auto`: which type a model computes in.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "backends/cpu/kernels/gemm/product_rates.h"

namespace alate::pipelines {

/// The mean cosine to the vectors in float32 that `auto` asks of a faster type.
inline constexpr double kLeastMeanCosine = 0.999;

struct DTypeCandidate {
  std::string_view name;  // as LoadOptions have it
  double times_f32 = 1;   // how many times as fast as those of float32 its products are
};

/// The types whose products are clearly faster than float32's, the fastest first.
std::vector<DTypeCandidate> faster_dtypes(const cpu::ProductRates& rates);

/// What is embedded in float32 and in a candidate: short texts of many kinds, which no quantization is calibrated with.
std::span<const std::string> choice_texts();

/// Of the rows of two matrices of f32, each with its own of the other; 1 for two rows of zeros. NaN where a number is.
double mean_cosine(const Tensor& a, const Tensor& b);

/// The model in the fastest type whose vectors of choice_texts() stay near to float32's; facts().dtype_reason says how
/// that came about, and so does a line of the log. On backends other than `cpu` that is float32, and an ONNX file is as
/// it is. Loads the model once in float32 and once for each type that is tried. Throws as EmbeddingPipeline::load.
EmbeddingPipeline load_fastest(const std::filesystem::path& folder, const LoadOptions& options,
                               const cpu::ProductRates& rates);

}  // namespace alate::pipelines
