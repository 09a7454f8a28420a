#include "tokenizers/sources/tokenizer_json/read_normalizer.h"

#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/base64.h"
#include "tokenizers/sources/tokenizer_json/read_pattern.h"

namespace alate::tokenizers {
namespace {

NormalizerPtr read_bert_normalizer(const Json& part, std::string_view where) {
  BertNormalizerOptions options;
  options.clean_text = bool_member(part, "clean_text", where);
  options.handle_chinese_chars = bool_member(part, "handle_chinese_chars", where);
  options.lowercase = bool_member(part, "lowercase", where);
  const Json* strip_accents = part.find("strip_accents");
  if (strip_accents != nullptr && !strip_accents->is_null())
    options.strip_accents = bool_member(part, "strip_accents", where);
  return bert_normalizer(options);
}

NormalizerPtr read_strip(const Json& part, std::string_view where) {
  return strip(bool_member(part, "strip_left", where), bool_member(part, "strip_right", where));
}

NormalizerPtr read_replace(const Json& part, std::string_view where) {
  return replace(read_pattern(part, where), string_member(part, "content", where), where);
}

NormalizerPtr read_precompiled(const Json& part, std::string_view where) {
  std::string charsmap;
  if (!formats::decode_base64(string_member(part, "precompiled_charsmap", where), charsmap))
    throw make_error(ErrorCode::corrupt, where, ": precompiled_charsmap is not base64");
  return precompiled(std::move(charsmap), where);
}

NormalizerPtr read_prepend(const Json& part, std::string_view where) {
  return prepend(string_member(part, "prepend", where));
}

template <NormalForm form>
NormalizerPtr read_form(const Json&, std::string_view) {
  return unicode_normalizer(form);
}

template <NormalizerPtr (*make)()>
NormalizerPtr read_plain(const Json&, std::string_view) {
  return make();
}

constexpr struct {
  std::string_view type;
  NormalizerPtr (*read)(const Json& part, std::string_view where);
} kNormalizerTypes[] = {
    {"BertNormalizer", read_bert_normalizer},
    {"ByteLevel", read_plain<byte_level_normalizer>},
    {"Lowercase", read_plain<lowercase>},
    {"NFC", read_form<NormalForm::nfc>},
    {"NFD", read_form<NormalForm::nfd>},
    {"NFKC", read_form<NormalForm::nfkc>},
    {"NFKD", read_form<NormalForm::nfkd>},
    {"Nmt", read_plain<nmt>},
    {"Precompiled", read_precompiled},
    {"Prepend", read_prepend},
    {"Replace", read_replace},
    {"Strip", read_strip},
    {"StripAccents", read_plain<strip_accents>},
};

}  // namespace

NormalizerPtr read_normalizer(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<NormalizerPtr> parts;
    for (const Json& inner : array_member(part, "normalizers", where)) {
      if (NormalizerPtr made = read_normalizer(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return normalizer_sequence(std::move(parts));
  }
  for (const auto& known : kNormalizerTypes) {
    if (known.type == type) return known.read(part, where);
  }
  throw_unknown_part("normalizer", type, where);
}

}  // namespace alate::tokenizers
