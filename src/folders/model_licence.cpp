#include "folders/model_licence.h"

#include <algorithm>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/split_text.h"
#include "folders/builtin_models.h"

namespace alate::folders {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCardBytes = std::size_t{4} << 20, kMaxLines = 2000, kMaxLicenceBytes = 200;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::string_view without_quotes(std::string_view value) {
  const bool is_quoted =
      value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, kMaxLicenceBytes));
  std::erase_if(shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return shown;
}

// The value of a key of the front matter that stands at the beginning of a line.
std::string_view value_of(const std::vector<std::string_view>& lines, std::string_view key) {
  for (const std::string_view line : lines) {
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':'))
      return without_quotes(trimmed(line.substr(key.size() + 1)));
  }
  return {};
}

}  // namespace

std::string licence_of_card(std::string_view card) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < card.size() && lines.size() < kMaxLines;) {
    const std::size_t end = std::min(card.find('\n', begin), card.size());
    std::string_view line = card.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    if (lines.empty() ? line != "---" : line == "---") break;
    lines.push_back(line);
  }
  const std::string_view licence = value_of(lines, "license");
  const std::string_view name = licence == "other" ? value_of(lines, "license_name") : std::string_view();
  return printable(name.empty() ? licence : name);
}

std::string model_licence(const fs::path& folder, const Manifest& manifest) {
  if (manifest.json.is_object()) {
    const formats::Json* stated = manifest.json.find("license");
    if (stated != nullptr && stated->is_string()) return printable(stated->as_string("license"));
  }
  const std::vector<fs::path> places = builtin_folders();
  if (std::ranges::find(places, folder.parent_path()) != places.end()) {
    const std::string reference = std::string(kBuiltinPrefix) + folder.filename().string();
    const auto credit = std::ranges::find(kBuiltinCredits, std::string_view(reference), &BuiltinCredit::reference);
    if (credit != kBuiltinCredits.end()) return std::string(credit->licence);
  }
  try {
    return licence_of_card(base::read_contained_file(folder, "README.md", kMaxCardBytes));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace alate::folders
