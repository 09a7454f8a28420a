// What a model is for, by the files of its folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding_kinds.h"
#include "alate/error.h"
#include "alate/model.h"
#include "formats/json.h"
#include "pipelines/modules/model_class.h"

namespace alate::pipelines {

/// A language model generates: that is no head's task, and tasks_of does not name it.
enum class Task { embed, rerank, classify, recognize, answer, fill, extract, generate };

/// "embed": the command.
std::string_view to_string(Task task);
/// "embedder": the type in manifests and listings.
std::string_view model_type(Task task);
/// "turns texts into vectors".
std::string_view description(Task task);

/// The tasks, the main one first; never empty. The main one is that of the head that config.json names: a model
/// …ForSequenceClassification with one label reranks, with more labels it classifies; a model …ForTokenClassification
/// recognizes, a model …ForQuestionAnswering answers; a language model whose folder says that it is a reranker reranks.
/// Such a folder also embeds if a modules.json says how its tokens are pooled; all others embed, and rerank too if they
/// give a vector for each token. A model …ForMaskedLM embeds, and fills masks too if there is no modules.json. A GLiNER
/// model recognizes; a GLiNER2 model extracts, and recognizes too. For a
/// folder that cannot be read the answer is that of any other: loading finds the fault. Reads no weights.
std::vector<Task> tasks_of(const std::filesystem::path& folder, const LoadOptions& options = {});

/// Whether the folder is that of a causal language model, and nothing in it says that it embeds, reranks or is for
/// anything but text that goes on: neither modules.json nor a manifest's type. False for a folder that cannot be read.
bool is_bare_language_model(const std::filesystem::path& folder, const LoadOptions& options = {});

/// Whether the folder of a language model says that it is a reranker: by sentence-transformers' LogitScore or
/// model_type CrossEncoder, or by the type in its model_manifest.json.
bool is_marked_reranker(const std::filesystem::path& home);

/// What a manifest says of the folder: the type of its main task, and the names of all. A bare language model is a
/// generator.
struct ModelPurpose {
  std::string type;
  std::vector<std::string> capabilities;
};
ModelPurpose purpose_of(const std::filesystem::path& folder);

/// Throws unsupported, saying what the model is for, unless it is an embedder too (tasks_of). A bare language model is
/// one only where the caller says how its tokens are pooled.
void require_embedder(const std::filesystem::path& folder, const LoadOptions& options, bool states_pooling);
/// What it throws for a bare language model.
Error bare_language_model_error(const std::filesystem::path& folder);

/// Whether a config is that of a model …ForTokenClassification with two labels: one that says where texts are divided.
bool divides_texts(const formats::Json& config);
/// The same of a folder; false for one that cannot be read.
bool divides_texts(const std::filesystem::path& folder, const LoadOptions& options = {});

/// The kinds of embeddings that the folder gives, if it embeds; none for a folder that cannot be read. Reads no
/// weights.
EmbeddingKinds kinds_of(const std::filesystem::path& folder, const LoadOptions& options = {});

/// Whether the folder's embeddings have a vector for each token, for late interaction; false for a folder that cannot
/// be read. Reads no weights.
bool gives_token_vectors(const std::filesystem::path& folder, const LoadOptions& options = {});

}  // namespace alate::pipelines
