#include "tokenizers/sources/tokenizer_json/read_pre_tokenizer.h"

#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/sources/tokenizer_json/read_pattern.h"

namespace alate::tokenizers {
namespace {

Delimiters read_behavior(const Json& part, std::string_view where) {
  const std::string& name = string_member(part, "behavior", where);
  if (name == "Removed") return Delimiters::removed;
  if (name == "Isolated") return Delimiters::isolated;
  if (name == "MergedWithPrevious") return Delimiters::merged_with_previous;
  if (name == "MergedWithNext") return Delimiters::merged_with_next;
  if (name == "Contiguous") return Delimiters::contiguous;
  throw make_error(ErrorCode::corrupt, where, ": \"", name, "\" is no behavior of a split");
}

PreTokenizerPtr read_byte_level(const Json& part, std::string_view where) {
  ByteLevelOptions options;
  options.add_prefix_space = bool_member(part, "add_prefix_space", where);
  options.trim_offsets = bool_member(part, "trim_offsets", where);
  options.use_regex = part.find("use_regex") == nullptr || bool_member(part, "use_regex", where);
  return byte_level_pre_tokenizer(options);
}

PreTokenizerPtr read_punctuation(const Json& part, std::string_view where) {
  return punctuation(part.find("behavior") == nullptr ? Delimiters::isolated : read_behavior(part, where));
}

PreTokenizerPtr read_digits(const Json& part, std::string_view where) {
  return digits(bool_member(part, "individual_digits", where));
}

PreTokenizerPtr read_split(const Json& part, std::string_view where) {
  return split(read_pattern(part, where), read_behavior(part, where), bool_member(part, "invert", where), where);
}

PreTokenizerPtr read_char_delimiter_split(const Json& part, std::string_view where) {
  return char_delimiter_split(character_member(part, "delimiter", where));
}

PreTokenizerPtr read_metaspace(const Json& part, std::string_view where) {
  return metaspace(read_metaspace_options(part, where));
}

PreTokenizerPtr read_fixed_length(const Json& part, std::string_view where) {
  if (part.find("length") == nullptr) return fixed_length(5);
  const auto length = static_cast<std::size_t>(count_member(part, "length", where));
  if (length == 0) throw make_error(ErrorCode::corrupt, where, ".length must be above 0");
  return fixed_length(length);
}

template <PreTokenizerPtr (*make)()>
PreTokenizerPtr read_plain_splitter(const Json&, std::string_view) {
  return make();
}

constexpr struct {
  std::string_view type;
  PreTokenizerPtr (*read)(const Json& part, std::string_view where);
} kPreTokenizerTypes[] = {
    {"BertPreTokenizer", read_plain_splitter<bert_pre_tokenizer>},
    {"ByteLevel", read_byte_level},
    {"CharDelimiterSplit", read_char_delimiter_split},
    {"Digits", read_digits},
    {"FixedLength", read_fixed_length},
    {"Metaspace", read_metaspace},
    {"Punctuation", read_punctuation},
    {"Split", read_split},
    {"UnicodeScripts", read_plain_splitter<unicode_scripts>},
    {"Whitespace", read_plain_splitter<whitespace>},
    {"WhitespaceSplit", read_plain_splitter<whitespace_split>},
};

}  // namespace

MetaspaceOptions read_metaspace_options(const Json& part, std::string_view where) {
  MetaspaceOptions options;
  options.replacement = character_member(part, "replacement", where);
  const Json* scheme = part.find("prepend_scheme");
  if (scheme != nullptr) {
    const std::string& name = string_member(part, "prepend_scheme", where);
    if (name == "first") {
      options.prepend = PrependScheme::first;
    } else if (name == "never") {
      options.prepend = PrependScheme::never;
    } else if (name != "always") {
      throw make_error(ErrorCode::corrupt, where, ": \"", name, "\" is no prepend_scheme");
    }
  }
  // The older spelling of the scheme; true says nothing beside a stated scheme.
  if (!part.get_bool("add_prefix_space", true)) {
    if (scheme != nullptr && options.prepend != PrependScheme::never)
      throw make_error(ErrorCode::corrupt, where, ": add_prefix_space contradicts prepend_scheme");
    options.prepend = PrependScheme::never;
  }
  options.split = part.get_bool("split", true);
  return options;
}

PreTokenizerPtr read_pre_tokenizer(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<PreTokenizerPtr> parts;
    for (const Json& inner : array_member(part, "pretokenizers", where)) {
      if (PreTokenizerPtr made = read_pre_tokenizer(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return pre_tokenizer_sequence(std::move(parts));
  }
  for (const auto& known : kPreTokenizerTypes) {
    if (known.type == type) return known.read(part, where);
  }
  throw_unknown_part("pre-tokenizer", type, where);
}

}  // namespace alate::tokenizers
