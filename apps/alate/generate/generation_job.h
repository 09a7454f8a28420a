// Many prompts through a language model, as a big job.
#pragma once

#include <filesystem>
#include <string>

#include "alate/generation.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/big_job.h"

namespace alate::app {

struct GenerationJob {
  std::filesystem::path folder;  // of the model
  const TextGenerator& generator;
  GenerationOptions options;
  TextCounts counts;
  OutputFormat format = OutputFormat::jsonl;  // an object for each prompt; or text, a line for each text
  OnError on_error = OnError::stop;
};

/// Reads the prompts of `job`, which is open, generates and writes. Prompts that are too long for the context or empty
/// end the job; with --on-error skip they have an error in their place.
void run_generation_job(const GenerationJob& wanted, BigJob& job);

}  // namespace alate::app
