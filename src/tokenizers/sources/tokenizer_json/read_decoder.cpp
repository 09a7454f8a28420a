#include "tokenizers/sources/tokenizer_json/read_decoder.h"

#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/sources/tokenizer_json/read_pattern.h"
#include "tokenizers/sources/tokenizer_json/read_pre_tokenizer.h"

namespace alate::tokenizers {
namespace {

std::size_t size_member(const Json& part, std::string_view key, std::string_view where) {
  return static_cast<std::size_t>(count_member(part, key, where));
}

DecoderPtr read_byte_level(const Json&, std::string_view) { return byte_level_decoder(); }

DecoderPtr read_word_piece(const Json& part, std::string_view where) {
  return word_piece_decoder(string_member(part, "prefix", where), bool_member(part, "cleanup", where));
}

DecoderPtr read_bpe(const Json& part, std::string_view where) {
  return bpe_decoder(string_member(part, "suffix", where));
}

DecoderPtr read_ctc(const Json& part, std::string_view where) {
  return ctc_decoder(string_member(part, "pad_token", where), string_member(part, "word_delimiter_token", where),
                     bool_member(part, "cleanup", where));
}

DecoderPtr read_byte_fallback(const Json&, std::string_view) { return byte_fallback_decoder(); }

DecoderPtr read_fuse(const Json&, std::string_view) { return fuse_decoder(); }

DecoderPtr read_strip(const Json& part, std::string_view where) {
  return strip_decoder(character_member(part, "content", where), size_member(part, "start", where),
                       size_member(part, "stop", where));
}

DecoderPtr read_metaspace(const Json& part, std::string_view where) {
  return metaspace_decoder(read_metaspace_options(part, where));
}

DecoderPtr read_replace(const Json& part, std::string_view where) {
  return replace_decoder(read_pattern(part, where), string_member(part, "content", where), where);
}

constexpr struct {
  std::string_view type;
  DecoderPtr (*read)(const Json& part, std::string_view where);
} kDecoders[] = {
    {"ByteLevel", read_byte_level},
    {"WordPiece", read_word_piece},
    {"BPEDecoder", read_bpe},
    {"CTC", read_ctc},
    {"ByteFallback", read_byte_fallback},
    {"Fuse", read_fuse},
    {"Strip", read_strip},
    {"Metaspace", read_metaspace},
    {"Replace", read_replace},
};

}  // namespace

DecoderPtr read_decoder(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<DecoderPtr> parts;
    for (const Json& inner : array_member(part, "decoders", where)) {
      if (DecoderPtr made = read_decoder(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return decoder_sequence(std::move(parts));
  }
  for (const auto& known : kDecoders) {
    if (known.type == type) return known.read(part, where);
  }
  throw_unknown_part("decoder", type, where);
}

}  // namespace alate::tokenizers
