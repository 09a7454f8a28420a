// Reading the small text files under /proc and /sys. Nothing here throws for what a file holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::base {

/// The text, at most 4 MiB of it; nothing when it cannot be read. These files do not tell their size.
std::optional<std::string> read_kernel_file(const std::filesystem::path& path);

/// `text` cut at each `separator`; empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string_view without_spaces_around(std::string_view text);

/// A decimal number that is all of the text but for white space around it.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// The number that a file holds and nothing else.
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);

/// What follows `key` on the first line that begins with it, without spaces around: for "MemTotal:  5 kB" and
/// "MemTotal:" it is "5 kB".
std::optional<std::string_view> value_after(std::string_view text, std::string_view key);

/// "0-2,8" as {0, 1, 2, 8}, in rising order; empty when malformed or longer than any machine has processors.
std::vector<std::size_t> parse_cpu_list(std::string_view text);

}  // namespace alate::base
