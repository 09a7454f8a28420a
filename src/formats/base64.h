// Base64 (RFC 4648), as files hold binary values in text.
#pragma once

#include <string>
#include <string_view>

namespace alate::formats {

/// Decodes padded base64 of the standard alphabet into `bytes`, whose old contents go; false if the text is none.
bool decode_base64(std::string_view text, std::string& bytes);

}  // namespace alate::formats
