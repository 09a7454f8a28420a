#include "tokenizers/sources/tokenizer_json/read_post_processor.h"

#include <string>
#include <utility>

#include "alate/error.h"

namespace alate::tokenizers {
namespace {

SpecialToken read_special(const Json& part, std::string_view key, std::string_view where) {
  const Json::Array& pair = array_member(part, key, where);
  if (pair.size() != 2) throw make_error(ErrorCode::corrupt, where, '.', key, " must be a token and its id");
  return {as_string(pair[0], where), as_count(pair[1], where)};
}

PostProcessorPtr read_bert(const Json& part, std::string_view where) {
  return bert_processing(read_special(part, "sep", where), read_special(part, "cls", where));
}

PostProcessorPtr read_roberta(const Json& part, std::string_view where) {
  return roberta_processing(read_special(part, "sep", where), read_special(part, "cls", where),
                            bool_member(part, "trim_offsets", where), bool_member(part, "add_prefix_space", where));
}

PostProcessorPtr read_byte_level(const Json& part, std::string_view where) {
  return byte_level_processing(bool_member(part, "trim_offsets", where), bool_member(part, "add_prefix_space", where));
}

std::vector<SpecialToken> read_template_tokens(const Json& part, std::string_view name, std::string_view where) {
  const Json& known = member(part, "special_tokens", where);
  const Json* special = known.find(name);
  if (special == nullptr)
    throw make_error(ErrorCode::corrupt, where, ": the template uses the special token \"", name,
                     "\", which special_tokens does not have");
  const Json::Array& ids = array_member(*special, "ids", where);
  const Json::Array& tokens = array_member(*special, "tokens", where);
  if (ids.size() != tokens.size())
    throw make_error(ErrorCode::corrupt, where, ": the special token \"", name, "\" must have as many ids as tokens");
  std::vector<SpecialToken> list;
  for (std::size_t i = 0; i < ids.size(); ++i) list.push_back({as_string(tokens[i], where), as_count(ids[i], where)});
  return list;
}

std::vector<TemplatePiece> read_pieces(const Json& part, std::string_view key, std::string_view where) {
  std::vector<TemplatePiece> pieces;
  for (const Json& entry : array_member(part, key, where)) {
    TemplatePiece piece;
    if (const Json* sequence = entry.find("Sequence")) {
      const std::string& id = string_member(*sequence, "id", where);
      if (id != "A" && id != "B")
        throw make_error(ErrorCode::corrupt, where, '.', key, ": there is no sequence \"", id, '"');
      piece.kind = id == "A" ? TemplatePiece::Kind::first_text : TemplatePiece::Kind::second_text;
      piece.type_id = count_member(*sequence, "type_id", where);
    } else {
      const Json& special = member(entry, "SpecialToken", where);
      piece.kind = TemplatePiece::Kind::special;
      piece.tokens = read_template_tokens(part, string_member(special, "id", where), where);
      piece.type_id = count_member(special, "type_id", where);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

PostProcessorPtr read_template(const Json& part, std::string_view where) {
  return template_processing({read_pieces(part, "single", where), read_pieces(part, "pair", where)}, where);
}

constexpr struct {
  std::string_view type;
  PostProcessorPtr (*read)(const Json& part, std::string_view where);
} kPostProcessors[] = {
    {"BertProcessing", read_bert},
    {"RobertaProcessing", read_roberta},
    {"ByteLevel", read_byte_level},
    {"TemplateProcessing", read_template},
};

}  // namespace

PostProcessorPtr read_post_processor(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<PostProcessorPtr> parts;
    for (const Json& inner : array_member(part, "processors", where)) {
      if (PostProcessorPtr made = read_post_processor(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return post_processor_sequence(std::move(parts));
  }
  for (const auto& known : kPostProcessors) {
    if (known.type == type) return known.read(part, where);
  }
  throw_unknown_part("post-processor", type, where);
}

}  // namespace alate::tokenizers
