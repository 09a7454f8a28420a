// The entries of a GGUF file's metadata that state a tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/gguf/gguf_header.h"
#include "tokenizers/added_vocabulary.h"

namespace alate::tokenizers {

struct GgufVocabulary {
  enum class TokenType { undefined = 0, normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

  std::string architecture;              // "general.architecture"; empty if there is none
  std::string model;                     // "tokenizer.ggml.model"
  std::string pre;                       // "tokenizer.ggml.pre"; empty if there is none
  std::vector<std::string_view> tokens;  // UTF-8; an empty one stays empty
  std::vector<float> scores;             // finite; empty if there are none
  std::vector<TokenType> types;          // empty if there are none
  std::vector<std::pair<std::string, std::string>> merges;
  bool has_merges = false;
  std::string charsmap;

  std::optional<std::uint32_t> bos, eos, unk, sep, pad, cls, mask;  // ids below the number of tokens
  std::optional<bool> add_bos, add_eos, add_sep, add_space_prefix, remove_extra_whitespaces;
  std::optional<bool> lowercase, strip_accents;

  TokenType type(std::size_t id) const { return types.empty() ? TokenType::normal : types[id]; }
  /// The id, or the default of llama.cpp for a file without it, if there is such a token.
  std::optional<std::uint32_t> or_default(std::optional<std::uint32_t> id, std::uint32_t otherwise) const;
};

/// Throws corrupt for entries of another type, lists of another length than the tokens', ids outside the vocabulary and
/// tokens that are not UTF-8; not_found if there is no tokenizer.ggml.model.
GgufVocabulary read_gguf_vocabulary(const formats::GgufHeader& header);

/// The added tokens: those of type control and the ones with a role are special, user-defined ones not.
std::vector<AddedToken> added_tokens_of(const GgufVocabulary& vocabulary);

}  // namespace alate::tokenizers
