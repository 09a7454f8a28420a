// What sentence-transformers keeps beside a transformer: sentence_bert_config.json.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace alate::pipelines {

struct TransformerSettings {
  std::optional<std::size_t> max_length = {};  // stated_max_length
  // max_length of the tasks "query" and "document", where they have their own
  std::optional<std::size_t> query_length = {}, document_length = {};
  bool lower_case = false;                       // texts are lower-cased before tokenization
  std::string output_name = "token_embeddings";  // of the value that modules read
};

/// The most tokens of a text that the folder states: in sentence_bert_config.json or one of its older names, else in
/// tokenizer_config.json. Throws corrupt for what is no length.
std::optional<std::size_t> stated_max_length(const std::filesystem::path& folder);

/// The most tokens of a row unless a call says otherwise: what the folder states, at most the model's positions.
std::size_t usual_max_length(const std::filesystem::path& folder, std::size_t positions);

/// Throws unsupported where the transformer's values are not those of its last layer, as modules of dense embeddings
/// read them.
void require_dense_output(const std::filesystem::path& folder);

/// All of it. Throws unsupported naming a setting that would change the vectors and is not known here.
TransformerSettings read_transformer_settings(const std::filesystem::path& folder);

}  // namespace alate::pipelines
