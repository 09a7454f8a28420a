#include "tokenizers/sources/tokenizer_json/read_model.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/json_fields.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/models/word_level.h"
#include "tokenizers/models/word_piece.h"

namespace alate::tokenizers {
namespace {

std::string path_of(std::string_view where, std::string_view key) {
  return std::string(where) + "." + std::string(key);
}

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

Vocabulary read_vocabulary(const Json& part, std::string_view where) {
  const Json::Object& tokens = object_member(part, "vocab", where);
  const std::string entry = path_of(where, "vocab");
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  for (const auto& [token, id] : tokens) vocabulary.add(token, as_count(id, entry));
  vocabulary.finish();
  return vocabulary;
}

[[noreturn]] void throw_bad_merge(std::string_view where, std::size_t position) {
  throw make_error(ErrorCode::corrupt, where, ".merges: entry ", position,
                   " is not two tokens, as a list or with a space between them");
}

// Entries are lists of two tokens or, in older files, texts with a space between the tokens; a comment with the version
// may stand among the latter.
std::vector<std::pair<std::string, std::string>> read_merges(const Json& part, std::string_view where) {
  const Json::Array& entries = array_member(part, "merges", where);
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Json& entry = entries[i];
    if (entry.is_string() != entries.front().is_string()) throw_bad_merge(where, i);
    if (entry.is_string()) {
      const std::string& text = as_string(entry, where);
      if (text.starts_with("#version")) continue;
      const std::size_t space = text.find(' ');
      if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) throw_bad_merge(where, i);
      merges.emplace_back(text.substr(0, space), text.substr(space + 1));
      continue;
    }
    if (!entry.is_array()) throw_bad_merge(where, i);
    const Json::Array& tokens = entry.as_array(where);
    if (tokens.size() != 2 || !tokens[0].is_string() || !tokens[1].is_string()) throw_bad_merge(where, i);
    merges.emplace_back(tokens[0].as_string(where), tokens[1].as_string(where));
  }
  return merges;
}

ModelPtr read_bpe(const Json& part, std::string_view where) {
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
  return bpe(read_vocabulary(part, where), read_merges(part, where), options, where);
}

ModelPtr read_word_piece(const Json& part, std::string_view where) {
  WordPieceRules rules;
  rules.unknown_token = string_member(part, "unk_token", where);
  rules.continuing_prefix = string_member(part, "continuing_subword_prefix", where);
  rules.max_input_chars_per_word = static_cast<std::size_t>(count_member(part, "max_input_chars_per_word", where));
  return word_piece(read_vocabulary(part, where), std::move(rules), where);
}

ModelPtr read_word_level(const Json& part, std::string_view where) {
  return word_level(read_vocabulary(part, where), string_member(part, "unk_token", where), where);
}

ModelPtr read_unigram(const Json& part, std::string_view where) {
  const std::string entry_path = path_of(where, "vocab");
  std::vector<UnigramPiece> pieces;
  const Json::Array& entries = array_member(part, "vocab", where);
  pieces.reserve(entries.size());
  for (const Json& entry : entries) {
    if (!entry.is_array() || entry.as_array(where).size() != 2 || !entry.as_array(where)[1].is_number())
      throw make_error(ErrorCode::corrupt, entry_path, " must be a list of [token, score]");
    pieces.push_back({as_string(entry.as_array(where)[0], entry_path), entry.as_array(where)[1].as_double(where)});
  }
  std::optional<std::size_t> unk_id;
  if (present(part, "unk_id") != nullptr) unk_id = static_cast<std::size_t>(count_member(part, "unk_id", where));
  const bool byte_fallback = part.find("byte_fallback") != nullptr && bool_member(part, "byte_fallback", where);
  return unigram(std::move(pieces), unk_id, byte_fallback, where);
}

constexpr struct {
  std::string_view type;
  ModelPtr (*read)(const Json& part, std::string_view where);
} kModels[] = {
    {"BPE", read_bpe},
    {"WordPiece", read_word_piece},
    {"WordLevel", read_word_level},
    {"Unigram", read_unigram},
};

// Files older than the member "type" are recognized by their other members, in the order of the reference.
std::string_view type_of(const Json& part, std::string_view where) {
  if (!part.is_object() || part.find("type") != nullptr) return part_type(part, where);
  const Json* vocabulary = part.find("vocab");
  const bool is_map = vocabulary != nullptr && vocabulary->is_object();
  if (is_map && part.find("merges") != nullptr) return "BPE";
  if (is_map && part.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  if (is_map && part.find("unk_token") != nullptr) return "WordLevel";
  if (vocabulary != nullptr && vocabulary->is_array()) return "Unigram";
  return part_type(part, where);
}

}  // namespace

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> types;
  for (const auto& known : kModels) types.push_back(known.type);
  return types;
}

ModelPtr read_model(const Json& part, std::string_view where) {
  const std::string_view type = type_of(part, where);
  for (const auto& known : kModels) {
    if (known.type == type) return known.read(part, where);
  }
  throw_unknown_part("model", type, where);
}

}  // namespace alate::tokenizers
