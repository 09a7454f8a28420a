// Reading the small text files under /proc and /sys. No function throws because of a file's contents.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::base {

/// The file's text, at most 4 MiB; nothing if it cannot be read. These files do not report their size.
std::optional<std::string> read_kernel_file(const std::filesystem::path& path);

std::string_view strip_spaces(std::string_view text);

/// The text as a decimal number; only surrounding white space is allowed.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// The number in a file that contains nothing else.
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);

/// The rest of the first line that begins with `key`, trimmed: for "MemTotal:  5 kB" and "MemTotal:" it is "5 kB".
std::optional<std::string_view> value_after(std::string_view text, std::string_view key);

/// "0-2,8" as {0, 1, 2, 8}, ascending; empty when malformed or listing more processors than any machine has.
std::vector<std::size_t> parse_cpu_list(std::string_view text);

}  // namespace alate::base
