#include "base/files/kernel_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/split_text.h"

namespace alate::base {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxProcessors = 65536;
constexpr std::string_view kSpaces = " \t\r\n";

}  // namespace

std::optional<std::string> read_kernel_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (text.size() < kMaxFileBytes) {
    file.read(buffer, sizeof(buffer));
    const std::streamsize got = file.gcount();
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  if (file.bad()) return std::nullopt;
  return text;
}

std::string_view strip_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  text = strip_spaces(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  const std::optional<std::string> text = read_kernel_file(path);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<std::string_view> value_after(std::string_view text, std::string_view key) {
  for (const std::string_view line : split_text(text, '\n')) {
    if (line.starts_with(key)) return strip_spaces(line.substr(key.size()));
  }
  return std::nullopt;
}

std::vector<std::size_t> parse_cpu_list(std::string_view text) {
  std::vector<std::size_t> processors;
  text = strip_spaces(text);
  if (text.empty()) return processors;
  for (const std::string_view part : split_text(text, ',')) {
    const std::size_t dash = part.find('-');
    const std::optional<std::uint64_t> first = parse_number(part.substr(0, dash));
    const std::optional<std::uint64_t> last =
        dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMaxProcessors) return {};
    for (std::uint64_t number = *first; number <= *last; ++number) processors.push_back(number);
  }
  std::ranges::sort(processors);
  const auto repeated = std::ranges::unique(processors);
  processors.erase(repeated.begin(), repeated.end());
  return processors;
}

}  // namespace alate::base
