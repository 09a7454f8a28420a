// Tokens added to the model's vocabulary, which match whole in the text before or after normalization.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tokenizers/models/model.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/pieces.h"
#include "tokenizers/token_matcher.h"

namespace alate::tokenizers {

struct AddedToken {
  std::string content;
  bool single_word = false;  // matches only without an adjacent letter, digit or mark
  bool lstrip = false;       // includes the white space before it
  bool rstrip = false;       // includes the white space after it
  bool normalized = true;    // matched in the normalized text, by its normalized content
  bool special = false;      // omitted when decoding skips special tokens
};

/// An added token with the id that a file gives it.
struct NumberedToken {
  std::int32_t id;
  AddedToken token;
};

/// Immutable once built; thread-safe.
class AddedVocabulary {
 public:
  /// Tokens that the model knows keep the model's id; others are numbered from the model's size on, in order, whatever
  /// ids the file gives them, as in the reference. `where` names the file in errors.
  AddedVocabulary(std::vector<AddedToken> tokens, const Model& model, const Normalizer* normalizer,
                  std::string_view where);

  /// Steps 1 to 3 of encoding: finds the tokens that match unnormalized text, normalizes the text between them, and
  /// finds the tokens that match normalized text in it.
  PieceList extract_and_normalize(std::string_view text, const Normalizer* normalizer, bool track,
                                  WorkBudget& budget) const;

  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  std::optional<std::string_view> id_to_token(std::int32_t id) const;
  bool is_special(std::string_view token) const { return special_.find(token) != special_.end(); }
  /// The number of tokens that are not in the model.
  std::size_t size_beyond(const Model& model) const;

  static constexpr std::size_t kMaxTokens = std::size_t{1} << 20;
  static constexpr std::size_t kMaxTokenBytes = 4096;
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 24;  // of all tokens together, as they are matched
  static constexpr std::size_t kMaxOverlap = std::size_t{1} << 26;

 private:
  struct Part {
    std::size_t begin;
    std::size_t end;
    std::int32_t id;
  };

  std::int32_t add(const AddedToken& token, const Model& model, std::int32_t& next_id);
  std::vector<Part> split(std::string_view text, const TokenMatcher& matcher, WorkBudget& budget) const;

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> ids_;
  std::unordered_map<std::int32_t, AddedToken> tokens_;
  std::unordered_map<std::int32_t, std::string> normalized_;  // where it differs from the content
  std::unordered_set<std::string, TextHash, std::equal_to<>> special_;
  TokenMatcher as_written_;
  TokenMatcher in_normalized_;
};

}  // namespace alate::tokenizers
