// dtype `auto`: the choice of the type that a model computes in.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "backends/batch_hint.h"
#include "pipelines/embed/embedding_rows.h"
#include "runtime/loading/load_watch.h"

namespace alate::pipelines {

/// The mean cosine to the float32 vectors that `auto` requires of a faster type.
inline constexpr double kLeastMeanCosine = 0.999;

struct DTypeCandidate {
  ComputeType type = ComputeType::float32;
  double times_f32 = 1;  // speed of its products relative to float32's
};

/// The types whose products are clearly faster than float32's, fastest first.
std::vector<DTypeCandidate> faster_dtypes(const backends::ProductRates& rates);

/// The texts that are embedded in float32 and in a candidate for comparison: short texts of many kinds, none of them
/// used for calibration.
std::span<const std::string> choice_texts();

/// The mean cosine between corresponding rows of two f32 matrices; 1 for two rows of zeros. NaN if any number is NaN.
double mean_cosine(const Tensor& a, const Tensor& b);

/// The options that load the model in float32, or in the only type that it computes in.
LoadOptions exact_options(const LoadOptions& options);

/// Loads the model in the fastest type whose vectors of choice_texts() stay close to float32's; facts().dtype_reason
/// and a log line say why. On backends that measure no product rates the type is float32, and an ONNX file is used as
/// it is. Loads the model once in float32 and once for each type that is tried. `rates` replace measured ones. Throws
/// as EmbeddingPipeline::load.
EmbeddingPipeline load_fastest(const std::filesystem::path& folder, const EmbeddingRequest& request,
                               runtime::LoadWatch& watch,
                               const std::optional<backends::ProductRates>& rates = std::nullopt);

}  // namespace alate::pipelines
