// What a TextGenerator has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/generation.h"
#include "base/threads/mutex.h"
#include "base/threads/thread_pool.h"
#include "generation/config/generation_config.h"
#include "generation/constraint/known_constraints.h"
#include "generation/sampling/dry_breakers.h"
#include "generation/sampling/sampler.h"
#include "pipelines/calls/text_model.h"
#include "pipelines/generate/template_traits.h"
#include "runtime/decoding/step_scheduler.h"

namespace alate {

struct TextGenerator::State {
  explicit State(pipelines::TextModel of) : model(std::move(of)) {}
  ~State() { steps.reset(); }  // its thread uses the rest
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  pipelines::TextModel model;
  generation::GenerationConfig config;
  GenerationOptions defaults;
  std::vector<std::int32_t> end_tokens;   // the model's own
  std::filesystem::path template_source;  // the folder or GGUF with the chat template
  std::size_t context = 0;
  std::unique_ptr<runtime::StepScheduler> steps;  // of all calls

  /// Of the worker of a step that chooses a token (StepJob::choose).
  generation::SamplerWorkspace& workspace(std::size_t worker) const { return workspaces_[worker]; }

  /// Made at their first use; the last ones are kept. Null if the options do not use them.
  std::shared_ptr<const generation::DryBreakers> dry_breakers(const SamplingOptions& options) const;
  /// What the options hold texts to; null if they may be anything. Throws as generation::compile_format.
  std::shared_ptr<generation::Constraint> constraint(const GenerationOptions& options,
                                                     base::Cancellation cancellation) const;

  /// The model's chat template, loaded at its first use. Throws as ChatTemplate::load.
  std::shared_ptr<const pipelines::ChatDialect> dialect() const;

 private:
  std::shared_ptr<const generation::Vocabulary> vocabulary() const;

  mutable std::vector<generation::SamplerWorkspace> workspaces_{base::ThreadPool::shared().size()};
  mutable base::Mutex breakers_mutex_;
  mutable std::vector<std::string> breaker_texts_;
  mutable std::shared_ptr<const generation::DryBreakers> breakers_;
  mutable base::Mutex dialect_mutex_;
  mutable std::shared_ptr<const pipelines::ChatDialect> dialect_;
  mutable generation::KnownConstraints constraints_{[this] { return vocabulary(); }};
};

namespace pipelines {

/// TextGenerator::load.
TextGenerator load_generator(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                             const RunControl& control = {});

}  // namespace pipelines
}  // namespace alate
