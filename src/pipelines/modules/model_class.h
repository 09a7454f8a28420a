// The class of transformers that a model's config.json names.
#pragma once

#include <string>
#include <string_view>

#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

/// The ends of the classes that config.json names, after the architecture's.
inline constexpr std::string_view kSequenceClassification = "ForSequenceClassification";
inline constexpr std::string_view kTokenClassification = "ForTokenClassification";
inline constexpr std::string_view kQuestionAnswering = "ForQuestionAnswering";
inline constexpr std::string_view kLanguageModel = "ForCausalLM";
inline constexpr std::string_view kRanking = "ForRanking";
inline constexpr std::string_view kMaskedLanguage = "ForMaskedLM";

/// The class that config.json names, or the architecture's base model where it names none; of a model whose
/// architecture is not known, what it is called.
std::string class_of(const Model::State& model);

}  // namespace alate::pipelines
