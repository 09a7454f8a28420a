// Base64 (RFC 4648, section 4), used by APIs for vectors.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace alate::server {

/// Appends the bytes in the standard alphabet, with padding.
void append_base64(std::string& out, std::span<const std::byte> bytes);

/// Appends the numbers as little-endian float32, in base64.
void append_base64(std::string& out, std::span<const float> values);

}  // namespace alate::server
