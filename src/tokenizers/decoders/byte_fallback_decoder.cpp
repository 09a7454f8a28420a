#include <cstdint>
#include <optional>

#include "tokenizers/decoders/stages.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// The byte of a token like <0x61>. As in Rust's u8::from_str_radix, a plus sign may be in place of the first digit.
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  const std::optional<int> high = token[3] == '+' ? 0 : hex_digit(token[3]);
  const std::optional<int> low = hex_digit(token[4]);
  if (!high.has_value() || !low.has_value()) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

// Bytes are final only when their run ends: one that is not valid UTF-8 as a whole gives no text at all.
class ByteFallbackStage final : public WholeTokenStage {
 public:
  using WholeTokenStage::WholeTokenStage;

 private:
  void take(std::string& token) override {
    if (const auto byte = byte_of(token)) {
      run_ += *byte;
      return;
    }
    end();
    write(token);
  }
  void end() override {
    if (run_.empty()) return;
    if (!repair_utf8(run_).has_value()) {
      write(run_);
    } else {
      for (std::size_t i = 0; i < run_.size(); ++i) write(kReplacement);
    }
    run_.clear();
  }

  std::string run_;
};

}  // namespace

DecoderPtr byte_fallback_decoder() { return make_decoder<ByteFallbackStage>(); }

}  // namespace alate::tokenizers
