// Texts in other encodings than UTF-8 (the Encoding Standard, https://encoding.spec.whatwg.org).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace alate::search {

/// The name of an encoding by one of its labels in any case: that of "latin1" is "windows-1252". Empty for an unknown
/// label.
std::string_view encoding_of_label(std::string_view label);

/// What the first bytes of a text say of its encoding: a byte order mark, or the zero bytes of UTF-16 and UTF-32, which
/// texts in UTF-8 hardly ever have.
struct EncodingSign {
  std::string_view encoding = {};  // empty: nothing is said
  std::size_t mark = 0;            // bytes of a byte order mark
};
EncodingSign encoding_sign(std::string_view bytes);

/// The encoding that a page states in its first 16 KiB, in a <meta> or in an XML declaration; empty where there is none
/// or an unknown one. One that states UTF-16, which it then cannot be in, is in UTF-8.
std::string_view stated_encoding(std::string_view page);

/// Bytes in an encoding other than UTF-8, without a byte order mark, as UTF-8; those that mean nothing become U+FFFD.
/// Encodings of a byte a character, UTF-16 and UTF-32 are known everywhere, others where the system has them; else
/// nothing.
std::optional<std::string> decode_bytes(std::string_view bytes, std::string_view encoding);

}  // namespace alate::search
