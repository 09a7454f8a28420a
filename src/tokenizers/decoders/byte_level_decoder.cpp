#include <array>
#include <cstdint>
#include <utility>

#include "tokenizers/decoders/stages.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::size_t kCharacters = 0x144;  // the last of the 256 characters is U+0143

// The byte that each character stands for, or -1: GPT-2 writes printable bytes of Latin-1 as themselves and the others
// as U+0100 and on, in order (https://github.com/openai/gpt-2/blob/master/src/encoder.py).
constexpr std::array<std::int16_t, kCharacters> byte_table() {
  std::array<std::int16_t, kCharacters> table{};
  for (std::int16_t& byte : table) byte = -1;
  std::size_t next = 0x100;
  for (std::int16_t byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    table[is_printable ? static_cast<std::size_t>(byte) : next++] = byte;
  }
  return table;
}

constexpr std::array<std::int16_t, kCharacters> kBytes = byte_table();

class ByteLevelStage final : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;

 private:
  void take(std::string& token) override {
    const std::size_t before = bytes_.size();
    for (std::size_t at = 0; at < token.size();) {
      const CodePoint c = decode_utf8(token, at);
      at += c.length;
      const int byte = c.value < kCharacters ? kBytes[c.value] : -1;
      if (byte < 0) {
        bytes_.replace(before, std::string::npos, token);
        break;
      }
      bytes_ += static_cast<char>(byte);
    }
    write_final(bytes_.size() - incomplete_utf8_tail(bytes_));
  }
  void end() override {
    write_final(bytes_.size());
    next().end_token();
  }
  void write_final(std::size_t size) {
    if (size == 0) return;
    const std::string_view part = std::string_view(bytes_).substr(0, size);
    const auto repaired = repair_utf8(part);
    next().text(repaired.has_value() ? std::string_view(*repaired) : part);
    bytes_.erase(0, size);
  }

  std::string bytes_;  // not yet written
};

}  // namespace

DecoderPtr byte_level_decoder() { return make_decoder<ByteLevelStage>(); }

}  // namespace alate::tokenizers
