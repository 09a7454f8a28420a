#include "tokenizers/decoders/decoder.h"

namespace alate::tokenizers {
namespace {

constexpr struct {
  std::string_view type;
  DecoderPtr (*make)(const Json& part, std::string_view where);
} kDecoders[] = {
    {"WordPiece", make_word_piece_decoder},
};

}  // namespace

DecoderPtr load_decoder(const Json& part, std::string_view where) {
  if (part.is_null()) return nullptr;
  const std::string& type = part_type(part, where);
  for (const auto& known : kDecoders) {
    if (known.type == type) return known.make(part, where);
  }
  throw_unknown_part("decoder", type, where);
}

}  // namespace alate::tokenizers
