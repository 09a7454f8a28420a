#include "tokenizers/sources/tokenizer_json/read_model.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/models/word_level.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"

namespace alate::tokenizers {
namespace {

const Json* present(const Json& part, std::string_view key) {
  const Json* value = part.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool optional_bool(const Json& part, std::string_view key, std::string_view where) {
  return present(part, key) != nullptr && bool_member(part, key, where);
}

std::optional<std::string> optional_string(const Json& part, std::string_view key, std::string_view where) {
  if (present(part, key) == nullptr) return std::nullopt;
  return string_member(part, key, where);
}

template <typename Member>
Member take(std::optional<Member>& member, std::string_view name, std::string_view where) {
  if (!member.has_value()) throw make_error(ErrorCode::corrupt, where, ".", name, " is absent, or of another kind");
  return *std::exchange(member, std::nullopt);
}

ModelPtr read_bpe(const Json& part, LargeMembers& large, std::string_view where) {
  if (const Json* dropout = present(part, "dropout")) {
    if (!dropout->is_number()) throw make_error(ErrorCode::corrupt, where, ".dropout must be a number or null");
    if (dropout->as_double(where) != 0)
      throw make_error(ErrorCode::unsupported, where, ": a dropout other than 0 is not supported; set it to null");
  }
  BpeOptions options;
  options.unk_token = optional_string(part, "unk_token", where);
  options.continuing_subword_prefix = optional_string(part, "continuing_subword_prefix", where).value_or("");
  options.end_of_word_suffix = optional_string(part, "end_of_word_suffix", where).value_or("");
  options.fuse_unk = optional_bool(part, "fuse_unk", where);
  options.byte_fallback = optional_bool(part, "byte_fallback", where);
  options.ignore_merges = optional_bool(part, "ignore_merges", where);
  return bpe(take(large.vocab, "vocab", where), take(large.merges, "merges", where), options, where);
}

ModelPtr read_word_piece(const Json& part, LargeMembers& large, std::string_view where) {
  WordPieceRules rules;
  rules.unknown_token = string_member(part, "unk_token", where);
  rules.continuing_prefix = string_member(part, "continuing_subword_prefix", where);
  rules.max_input_chars_per_word = static_cast<std::size_t>(count_member(part, "max_input_chars_per_word", where));
  return word_piece(take(large.vocab, "vocab", where), std::move(rules), where);
}

ModelPtr read_word_level(const Json& part, LargeMembers& large, std::string_view where) {
  return word_level(take(large.vocab, "vocab", where), string_member(part, "unk_token", where), where);
}

ModelPtr read_unigram(const Json& part, LargeMembers& large, std::string_view where) {
  std::optional<std::size_t> unk_id;
  if (present(part, "unk_id") != nullptr) unk_id = static_cast<std::size_t>(count_member(part, "unk_id", where));
  const bool byte_fallback = part.find("byte_fallback") != nullptr && bool_member(part, "byte_fallback", where);
  return unigram(take(large.pieces, "vocab", where), unk_id, byte_fallback, where);
}

constexpr struct {
  std::string_view type;
  ModelPtr (*read)(const Json& part, LargeMembers& large, std::string_view where);
} kModels[] = {
    {"BPE", read_bpe},
    {"WordPiece", read_word_piece},
    {"WordLevel", read_word_level},
    {"Unigram", read_unigram},
};

}  // namespace

// Files older than the member "type" are recognized by their other members, in the order of the reference.
std::string_view type_of_model(const Json& part, const LargeMembers& large, std::string_view where) {
  if (!part.is_object() || part.find("type") != nullptr) return part_type(part, where);
  if (large.vocab.has_value() && large.merges.has_value()) return "BPE";
  if (large.vocab.has_value() && part.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  if (large.vocab.has_value() && part.find("unk_token") != nullptr) return "WordLevel";
  if (large.pieces.has_value()) return "Unigram";
  return part_type(part, where);
}

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> types;
  for (const auto& known : kModels) types.push_back(known.type);
  return types;
}

ModelPtr read_model(const Json& part, LargeMembers large, std::string_view where) {
  const std::string_view type = type_of_model(part, large, where);
  for (const auto& known : kModels) {
    if (known.type == type) return known.read(part, large, where);
  }
  throw_unknown_part("model", type, where);
}

}  // namespace alate::tokenizers
