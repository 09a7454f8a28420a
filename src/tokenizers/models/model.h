// Models, which turn a piece of text into tokens of their vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizers/json_fields.h"

namespace alate::tokenizers {

struct Token {
  std::int32_t id;
  std::uint32_t begin;  // byte offset in the piece
  std::uint32_t end;
};

/// Immutable; thread-safe.
class Model {
 public:
  virtual ~Model() = default;
  /// Appends the tokens of a piece (valid UTF-8, not empty). Throws corrupt if a required token is missing.
  virtual void tokenize(std::string_view piece, std::vector<Token>& out) const = 0;
  virtual std::optional<std::int32_t> token_to_id(std::string_view token) const = 0;
  virtual std::optional<std::string_view> id_to_token(std::int32_t id) const = 0;
  /// The number of distinct tokens.
  virtual std::size_t size() const = 0;
};

using ModelPtr = std::unique_ptr<const Model>;

/// The model that a tokenizer.json states. Throws corrupt, or unsupported naming the type.
ModelPtr load_model(const Json& part, std::string_view where);

/// The types that load_model knows: "WordPiece".
std::vector<std::string_view> model_types();

}  // namespace alate::tokenizers
