#include "tokenizers/pieces.h"

#include <string>
#include <utility>

#include "tokenizers/byte_alphabet.h"

namespace alate::tokenizers {

void PieceList::write_byte_characters() {
  if (!byte_level) return;
  byte_level = false;
  std::string written;
  written.reserve(text.size() * 2);
  std::vector<Span> alignment;
  if (text.tracks()) alignment.reserve(text.size() * 2);
  std::size_t at_start = 0;
  Progress progress(text.budget());
  for (Piece& piece : pieces) {
    const std::size_t begin = written.size();
    for (std::uint32_t at = piece.begin; at < piece.end; ++at) {
      progress.reached(at);
      const std::string_view byte = text.text().substr(at, 1);
      if (piece.token == kNoToken) {
        append_byte_characters(written, byte);
      } else {
        written += byte;
      }
      if (text.tracks()) alignment.resize(written.size(), text.source(at));
      if (at < text.at_start()) at_start = written.size();
    }
    text.budget().check_bytes(written.size());
    piece = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(written.size()), piece.token};
  }
  text.assign(std::move(written), std::move(alignment), at_start);
}

}  // namespace alate::tokenizers
