// Human-readable byte counts.
#pragma once

#include <cstdint>
#include <string>

namespace alate::base {

/// "86.6 MiB", "1.20 GiB", "512 bytes": at least three digits, in powers of 1024.
std::string byte_text(std::uint64_t bytes);

}  // namespace alate::base
