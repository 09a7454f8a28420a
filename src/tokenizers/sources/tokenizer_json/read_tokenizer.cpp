#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/parts.h"
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

}  // namespace

std::shared_ptr<const Tokenizer::Parts> load_tokenizer_json(std::string_view text, std::string_view what) {
  FileMembers members = read_file_members(text, what);
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
  std::vector<AddedToken> added;
  if (file.find("added_tokens") != nullptr)
    added = read_added_tokens(array_member(file, "added_tokens", what), where("added_tokens"));
  AddedVocabulary vocabulary(std::move(added), *model, normalizer.get(), what);
  return std::make_shared<const Tokenizer::Parts>(Tokenizer::Parts{
      .normalizer = std::move(normalizer),
      .pre_tokenizer = std::move(pre_tokenizer),
      .model = std::move(model),
      .added = std::move(vocabulary),
      .post_processor = read_post_processor(part("post_processor"), where("post_processor")),
      .decoder = read_decoder(part("decoder"), where("decoder")),
      .stated_max_length = truncation.max_length,
      .stated_side = truncation.side,
      .stated_padding = read_padding(part("padding"), where("padding")),
  });
}

}  // namespace alate::tokenizers
