// The tokens "<0x00>" to "<0xFF>", which stand for the bytes of text outside the vocabulary.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alate::tokenizers {

class ByteTokens {
 public:
  /// `id_of` gives the id of a token, if the vocabulary has it.
  template <typename IdOf>
  explicit ByteTokens(IdOf id_of) {
    for (std::size_t byte = 0; byte < ids_.size(); ++byte) {
      const std::optional<std::int32_t> id = id_of(std::string_view(text_of(byte)));
      ids_[byte] = id.value_or(-1);
    }
  }

  bool has_all(std::string_view text) const {
    return std::all_of(text.begin(), text.end(), [&](char byte) { return id(byte) >= 0; });
  }
  bool is_complete() const {
    return std::all_of(ids_.begin(), ids_.end(), [](std::int32_t id) { return id >= 0; });
  }
  /// -1 if there is no such token.
  std::int32_t id(char byte) const { return ids_[static_cast<unsigned char>(byte)]; }

  static bool is_one(std::string_view token) {
    return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
  }

 private:
  static std::string text_of(std::size_t byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
  }

  std::array<std::int32_t, 256> ids_{};
};

}  // namespace alate::tokenizers
