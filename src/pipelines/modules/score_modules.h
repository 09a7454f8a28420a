// Cross-encoders that sentence-transformers builds of modules: a transformer that reads pairs, and after it the modules
// that make their scores, as in the ettin-reranker family.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pipelines/modules/modules.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_files.h"

namespace alate::pipelines {

/// The value that the last module makes.
inline constexpr std::string_view kScores = "scores";

struct ScoreModules {
  TransformerSettings transformer;
  std::vector<ChainModule> chain;
  std::int64_t labels = 1;  // numbers of a pair
};

/// Null for models whose numbers a head of config.json's class or a LogitScore makes. Throws unsupported naming a
/// module or setting of a CrossEncoder that is not known here, corrupt for files that contradict themselves.
std::shared_ptr<const ScoreModules> read_score_modules(const runtime::ModelFiles& files);

/// Before any activation: [sequences, labels].
graph::Value score_value(graph::Builder& b, const models::EncoderInputs& in, const models::BuiltEncoder& built,
                         const ScoreModules& modules);
/// The output "logits" of these.
runtime::Head score_head(std::shared_ptr<const ScoreModules> modules);
/// The entry point of this head, compiled at its first use. Throws as Model::State::entry_point.
std::shared_ptr<const runtime::EntryPoint> score_entry_point(const Model::State& model,
                                                             std::shared_ptr<const ScoreModules> modules);

}  // namespace alate::pipelines
