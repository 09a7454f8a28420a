// Models, which turn a piece of text into tokens of their vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizers/work_budget.h"

namespace alate::tokenizers {

struct Token {
  std::int32_t id;
  std::uint32_t begin;      // byte offset in the piece
  std::uint32_t end;        // may be past the piece's end, where the reference's offsets are
  bool is_surface = false;  // its text is that of the piece, not that of its id (an unknown word of a Unigram model)

  bool operator==(const Token&) const = default;
};

/// Immutable; thread-safe.
class Model {
 public:
  /// Working memory and caches of words for one thread at a time. Results never depend on its contents.
  class Scratch {
   public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    virtual ~Scratch() = default;
    /// Frees what an unusually long piece needed. Called after each text.
    virtual void trim() {}

    /// Of the text under way: models count the steps of long loops.
    WorkBudget* budget = nullptr;
  };

  virtual ~Model() = default;

  /// Made by this model, and given to no other model's `tokenize`.
  virtual std::unique_ptr<Scratch> make_scratch() const { return std::make_unique<Scratch>(); }

  /// Appends the tokens of a piece (valid UTF-8, not empty). Throws corrupt if a required token is missing, and
  /// cancelled.
  virtual void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const = 0;
  /// Whether tokenize_bytes may be called.
  virtual bool reads_bytes() const { return false; }
  /// The same for a piece whose bytes stand for the characters of the byte-level alphabet (byte_alphabet.h); the
  /// tokens' offsets count these bytes.
  virtual void tokenize_bytes(std::string_view bytes, Scratch& scratch, std::vector<Token>& out) const;

  virtual std::optional<std::int32_t> token_to_id(std::string_view token) const = 0;
  virtual std::optional<std::string_view> id_to_token(std::int32_t id) const = 0;
  /// The token that stands for text that the vocabulary lacks, if the model has one.
  virtual std::optional<std::int32_t> unknown_id() const { return std::nullopt; }
  /// The beginning of tokens that continue a word ("##"); empty where the vocabulary does not mark them.
  virtual std::string_view continuing_prefix() const { return {}; }
  /// The number of tokens, as the reference counts them.
  virtual std::size_t size() const = 0;
};

using ModelPtr = std::unique_ptr<const Model>;

}  // namespace alate::tokenizers
