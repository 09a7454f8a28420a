#include "pipelines/embed/dtype_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "pipelines/embed/embed_run.h"
#include "pipelines/embed/embedding_rows.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {
namespace {

std::string digits(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

EmbeddingPipeline chosen(LoadedPipeline loaded, const std::filesystem::path& folder, std::string reason) {
  // Logged at a level that is always shown: the choice determines how close vectors are to those of float32.
  base::log(base::LogLevel::warn, "dtype auto chose",
            {{"model", runtime::shown_name(folder)}, {"dtype", loaded.model->facts.dtype}, {"reason", reason}},
            runtime::shown_name(folder) + " is computed in " + loaded.model->facts.dtype + ": " + reason);
  loaded.model->facts.dtype_reason = std::move(reason);
  return std::move(loaded.pipeline);
}

// Of each transformer.
std::vector<Tensor> vectors_of_texts(const EmbeddingPipeline& pipeline, const runtime::LoadWatch& watch) {
  const RouteTable& routes = pipeline.state().modules.routes;
  const bool needs_task = !routes.names.empty() && !routes.has_default();
  std::vector<EmbeddingPipeline> pipelines = pipeline.state().others();
  pipelines.insert(pipelines.begin(), pipeline);
  const std::vector<std::string_view> texts(choice_texts().begin(), choice_texts().end());
  std::vector<Tensor> vectors;
  for (const EmbeddingPipeline& each : pipelines) {
    const EmbedOptions options{.task = needs_task ? each.state().modules.route : ""};
    vectors.push_back(embed_texts(each, texts, EmbeddingKinds::only(EmbeddingKind::dense), options,
                                  {.cancellation = watch.cancellation()})
                          .dense);
  }
  return vectors;
}

// The result of trying one candidate.
struct Trial {
  std::optional<LoadedPipeline> loaded;
  double cosine = 0;
  std::string refusal;  // empty: accepted
};

Trial try_dtype(const std::filesystem::path& folder, EmbeddingRequest request, const DTypeCandidate& candidate,
                const runtime::LoadWatch& watch, const std::vector<Tensor>& wanted) {
  request.load.options.dtype = candidate.type;
  Trial trial;
  try {
    // The progress that is reported is that of the first load.
    runtime::LoadWatch silent(watch.cancellation());
    trial.loaded = load_pipeline(folder, request, silent);
    if (!trial.loaded->model->backend->product_rates()) {
      trial.refusal = "the backend '" + trial.loaded->model->facts.backend + "' was chosen for it";
      return trial;
    }
    const std::vector<Tensor> found = vectors_of_texts(trial.loaded->pipeline, watch);
    trial.cosine = 1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double cosine = mean_cosine(wanted[i], found[i]);
      if (std::isnan(cosine) || cosine < trial.cosine) trial.cosine = cosine;
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    trial.refusal = error.message();
    return trial;
  }
  if (!(trial.cosine >= kLeastMeanCosine))
    trial.refusal =
        "its mean cosine to float32 is " + digits("%.5f", trial.cosine) + ", below " + digits("%.3f", kLeastMeanCosine);
  return trial;
}

}  // namespace

std::vector<DTypeCandidate> faster_dtypes(const backends::ProductRates& rates) {
  std::vector<DTypeCandidate> candidates;
  const auto add = [&](ComputeType type, double rate) {
    if (rates.is_clearly_above_f32(rate)) candidates.push_back({type, rate / rates.f32});
  };
  add(ComputeType::bfloat16, rates.bf16);
  add(ComputeType::int8, rates.integers);
  std::ranges::stable_sort(candidates, std::ranges::greater(), &DTypeCandidate::times_f32);
  return candidates;
}

double mean_cosine(const Tensor& a, const Tensor& b) {
  const auto rows = static_cast<std::size_t>(a.extent(0)), width = static_cast<std::size_t>(a.extent(1));
  const std::span<const float> left = a.values<float>(), right = b.values<float>();
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    double product = 0, left_squares = 0, right_squares = 0;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      product += double{left[i]} * double{right[i]};
      left_squares += double{left[i]} * double{left[i]};
      right_squares += double{right[i]} * double{right[i]};
    }
    sum += left_squares == 0 && right_squares == 0 ? 1 : product / std::sqrt(left_squares * right_squares);
  }
  return sum / static_cast<double>(rows);
}

LoadOptions exact_options(const LoadOptions& options) {
  LoadOptions exact = options;
  exact.dtype = ComputeType::float32;
  return exact;
}

EmbeddingPipeline load_fastest(const std::filesystem::path& folder, const EmbeddingRequest& request,
                               runtime::LoadWatch& watch, const std::optional<backends::ProductRates>& rates) {
  EmbeddingRequest exact = request;
  exact.load.options = exact_options(request.load.options);
  LoadedPipeline plain = load_pipeline(folder, exact, watch);
  if (std::string reason = plain.model->form->reason_of_dtype(); !reason.empty())
    return chosen(std::move(plain), folder, std::move(reason));
  if (!plain.pipeline.kinds().dense)
    return chosen(std::move(plain), folder, "only dense embeddings are compared, and the model gives none");
  const std::string& backend = plain.model->facts.backend;
  const std::optional<backends::ProductRates> measured = plain.model->backend->product_rates();
  if (!measured)
    return chosen(std::move(plain), folder, "only the backend 'cpu' is faster in other types, not '" + backend + "'");

  const std::vector<DTypeCandidate> candidates = faster_dtypes(rates.value_or(*measured));
  if (candidates.empty()) return chosen(std::move(plain), folder, "no type's products are faster on this machine");
  const std::vector<Tensor> wanted = vectors_of_texts(plain.pipeline, watch);
  std::string refusals;
  for (const DTypeCandidate& candidate : candidates) {
    Trial trial = try_dtype(folder, request, candidate, watch, wanted);
    if (trial.refusal.empty()) {
      const std::string reason = "its products are " + digits("%.1f", candidate.times_f32) +
                                 " times as fast as float32's, and its mean cosine to float32 is " +
                                 digits("%.5f", trial.cosine) + " over " + std::to_string(choice_texts().size()) +
                                 " texts" + (refusals.empty() ? "" : "; " + refusals);
      return chosen(*std::move(trial.loaded), folder, reason);
    }
    refusals +=
        (refusals.empty() ? "" : "; ") + std::string(to_string(candidate.type)) + " is faster, but " + trial.refusal;
  }
  return chosen(std::move(plain), folder, refusals);
}

}  // namespace alate::pipelines
