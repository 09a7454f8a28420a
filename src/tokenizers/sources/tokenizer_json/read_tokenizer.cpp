#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/log.h"
#include "tokenizers/parts.h"
#include "tokenizers/sources/class_parts.h"
#include "tokenizers/sources/tokenizer_config.h"
#include "tokenizers/sources/tokenizer_json/file_members.h"
#include "tokenizers/sources/tokenizer_json/json_fields.h"
#include "tokenizers/sources/tokenizer_json/read_added_tokens.h"
#include "tokenizers/sources/tokenizer_json/read_decoder.h"
#include "tokenizers/sources/tokenizer_json/read_model.h"
#include "tokenizers/sources/tokenizer_json/read_normalizer.h"
#include "tokenizers/sources/tokenizer_json/read_post_processor.h"
#include "tokenizers/sources/tokenizer_json/read_pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

void check_version(const Json& file, std::string_view what) {
  const Json* version = file.find("version");
  if (version == nullptr) return;
  const std::string& text = as_string(*version, std::string(what) + ": version");
  if (text != "1.0")
    throw make_error(ErrorCode::unsupported, what, ": the file's version is \"", text, "\", only \"1.0\" is known");
}

struct StatedTruncation {
  std::optional<std::size_t> max_length;
  Side side = Side::right;
};

StatedTruncation load_truncation(const Json& part, const std::string& where) {
  if (part.is_null()) return {};
  StatedTruncation stated;
  stated.max_length = static_cast<std::size_t>(count_member(part, "max_length", where));
  const Json* direction = part.find("direction");
  if (direction != nullptr && as_string(*direction, where + ".direction") == "Left") stated.side = Side::left;
  return stated;
}

std::optional<Padding> read_padding(const Json& part, const std::string& where) {
  if (part.is_null()) return std::nullopt;
  Padding padding;
  const Json& strategy = member(part, "strategy", where);
  if (strategy.is_object()) {
    padding.length = static_cast<std::size_t>(count_member(strategy, "Fixed", where + ".strategy"));
  } else if (as_string(strategy, where + ".strategy") != "BatchLongest") {
    throw make_error(ErrorCode::corrupt, where, ".strategy must be \"BatchLongest\" or {\"Fixed\": length}");
  }
  const Json* multiple = part.find("pad_to_multiple_of");
  if (multiple != nullptr && !multiple->is_null())
    padding.multiple_of = static_cast<std::size_t>(as_count(*multiple, where + ".pad_to_multiple_of"));
  padding.side = string_member(part, "direction", where) == "Left" ? Side::left : Side::right;
  padding.id = count_member(part, "pad_id", where);
  padding.type_id = count_member(part, "pad_type_id", where);
  padding.token = string_member(part, "pad_token", where);
  return padding;
}

// Says that transformers follows tokenizer_config.json, and so does this program, where tokenizer.json has it
// otherwise.
void warn_of_disagreement(const TokenizerConfig& config, std::string_view part) {
  base::log(base::LogLevel::warn, "tokenizer_config.json (or its class) overrules tokenizer.json, as in transformers",
            {{"folder", config.where()},
             {"class", config.class_name()},
             {"overruled", std::string("tokenizer.json: ") + std::string(part)}});
}

void set_member(Json::Object& object, const Json::Member& member) {
  for (Json::Member& known : object) {
    if (known.first != member.first) continue;
    known.second = member.second;
    return;
  }
  object.push_back(member);
}

// Puts the parts that the class builds in the place of the file's.
void take_class_parts(Json& file, const ClassParts& parts, const TokenizerConfig& config) {
  Json::Object members = file.as_object("the file");
  const auto differs = [](const Json& holder, const Json::Member& own) {
    const Json* stated = holder.find(own.first);
    return !same_part(own.second, stated == nullptr ? Json() : *stated);
  };
  for (const Json::Member& own : parts.parts) {
    if (!differs(file, own)) continue;
    warn_of_disagreement(config, own.first);
    set_member(members, own);
  }
  if (const Json* model = file.find_value("model"); model != nullptr && model->is_object()) {
    Json::Object inner = model->as_object("model");
    for (const Json::Member& own : parts.model_members) {
      if (!differs(*model, own)) continue;
      warn_of_disagreement(config, "model." + own.first);
      set_member(inner, own);
    }
    set_member(members, {"model", Json(std::move(inner))});
  }
  file = Json(std::move(members));
}

std::vector<AddedToken> added_tokens(std::vector<NumberedToken> in_file, const std::optional<ClassParts>& own,
                                     const TokenizerConfig* config) {
  if (config == nullptr) {
    std::vector<AddedToken> tokens;
    for (NumberedToken& entry : in_file) tokens.push_back(std::move(entry.token));
    return tokens;
  }
  std::vector<std::string> contents;
  for (const NumberedToken& entry : in_file) contents.push_back(entry.token.content);
  const std::vector<NamedToken> named = own ? own->named : config->named_tokens({});
  std::vector<AddedToken> tokens =
      config->added_to(std::move(in_file), named, own ? own->further : std::vector<StatedToken>(), own.has_value());
  std::unordered_set<std::string_view> kept;
  for (const AddedToken& token : tokens) kept.insert(token.content);
  const auto lost = std::ranges::find_if(contents, [&](const std::string& text) { return !kept.contains(text); });
  if (lost != contents.end()) warn_of_disagreement(*config, "added_tokens, " + formats::quoted_name(*lost));
  return tokens;
}

// Leaves the file's processor where it puts the same tokens around texts, since it knows of offsets too.
void take_class_template(PostProcessorPtr& processor, const ClassParts& own, const TokenizerConfig& config,
                         const AddedVocabulary& added, const Model& model, std::string_view what) {
  const auto special = [&](std::string_view text) {
    std::optional<std::int32_t> id = added.token_to_id(text);
    if (!id) id = model.token_to_id(text);
    if (!id)
      throw make_error(ErrorCode::corrupt, what, ": the special token ", formats::quoted_name(text),
                       " of tokenizer_config.json or its class is not in the vocabulary");
    return SpecialToken{std::string(text), *id};
  };
  PostProcessorPtr made = class_template(own, special, what);
  if (made == nullptr || same_special_tokens(processor.get(), made.get())) return;
  warn_of_disagreement(config, "post_processor");
  processor = std::move(made);
}

}  // namespace

std::shared_ptr<Tokenizer::Parts> load_tokenizer_json(std::string_view text, std::string_view what,
                                                      const TokenizerConfig* config) {
  FileMembers members = read_file_members(text, what);
  std::optional<ClassParts> own;
  const Json* stated_model = config == nullptr ? nullptr : members.file.find_value("model");
  if (stated_model != nullptr) {
    const std::string_view type = type_of_model(*stated_model, members.large, std::string(what) + ": model");
    own = class_parts(members.file, type, *config);
  }
  if (own) take_class_parts(members.file, *own, *config);
  const Json& file = members.file;
  const Json absent;
  const std::string prefix = std::string(what) + ": ";
  const auto part = [&](std::string_view key) -> const Json& {
    const Json* found = file.find(key);
    return found == nullptr ? absent : *found;
  };
  const auto where = [&](std::string_view key) { return prefix + std::string(key); };
  if (!file.is_object()) throw make_error(ErrorCode::corrupt, what, " must be a JSON object but is ", file.kind());
  check_version(file, what);
  for (const std::string_view key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
    check_part_count(part(key), where(key));
  const StatedTruncation truncation = load_truncation(part("truncation"), where("truncation"));
  NormalizerPtr normalizer = read_normalizer(part("normalizer"), where("normalizer"));
  PreTokenizerPtr pre_tokenizer = read_pre_tokenizer(part("pre_tokenizer"), where("pre_tokenizer"));
  ModelPtr model = read_model(member(file, "model", what), std::move(members.large), where("model"));
  std::vector<NumberedToken> in_file;
  if (file.find("added_tokens") != nullptr)
    in_file = read_added_tokens(array_member(file, "added_tokens", what), where("added_tokens"));
  AddedVocabulary vocabulary(added_tokens(std::move(in_file), own, config), *model, normalizer.get(), what);
  PostProcessorPtr post_processor = read_post_processor(part("post_processor"), where("post_processor"));
  if (own) take_class_template(post_processor, *own, *config, vocabulary, *model, what);
  return std::make_shared<Tokenizer::Parts>(Tokenizer::Parts{
      .normalizer = std::move(normalizer),
      .pre_tokenizer = std::move(pre_tokenizer),
      .model = std::move(model),
      .added = std::move(vocabulary),
      .post_processor = std::move(post_processor),
      .decoder = read_decoder(part("decoder"), where("decoder")),
      .stated_max_length = truncation.max_length,
      .stated_side = truncation.side,
      .stated_padding = read_padding(part("padding"), where("padding")),
  });
}

}  // namespace alate::tokenizers
