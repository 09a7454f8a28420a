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
#include "generation/config/generation_config.h"
#include "generation/sampling/dry_breakers.h"
#include "pipelines/calls/text_model.h"
#include "runtime/loading/step_program.h"

namespace alate {

struct TextGenerator::State {
  explicit State(pipelines::TextModel of) : model(std::move(of)) {}

  pipelines::TextModel model;
  std::shared_ptr<const runtime::StepProgram> program;
  generation::GenerationConfig config;
  GenerationOptions defaults;
  std::vector<std::int32_t> end_tokens;   // the model's own
  std::filesystem::path template_source;  // the folder or GGUF with the chat template
  std::size_t context = 0;

  /// Made at their first use; the last ones are kept. Null if the options do not use them.
  std::shared_ptr<const generation::DryBreakers> dry_breakers(const SamplingOptions& options) const;

 private:
  mutable base::Mutex breakers_mutex_;
  mutable std::vector<std::string> breaker_texts_;
  mutable std::shared_ptr<const generation::DryBreakers> breakers_;
};

namespace pipelines {

/// TextGenerator::load.
TextGenerator load_generator(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                             const RunControl& control = {});

}  // namespace pipelines
}  // namespace alate
