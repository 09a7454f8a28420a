#include "hub/install/pip_configuration.h"

#include <filesystem>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "base/os/environment.h"
#include "base/split_text.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// In pip's order of precedence.
std::vector<fs::path> configuration_files() {
  std::vector<fs::path> files;
  if (const auto named = base::environment("PIP_CONFIG_FILE")) files.emplace_back(*named);
  const auto home = base::environment("HOME");
  if (const auto folder = base::environment("XDG_CONFIG_HOME")) {
    files.push_back(fs::path(*folder) / "pip" / "pip.conf");
  } else if (home) {
    files.push_back(fs::path(*home) / ".config" / "pip" / "pip.conf");
  }
  if (home) files.push_back(fs::path(*home) / ".pip" / "pip.conf");
  files.emplace_back("/etc/pip.conf");
  return files;
}

}  // namespace

std::optional<std::string> index_url_of(std::string_view configuration) {
  std::optional<std::string> of_all, of_command;
  std::string_view section;
  for (const std::string_view line : base::split_text(configuration, '\n')) {
    const std::string_view text = trimmed(line);
    if (text.starts_with('[') && text.ends_with(']')) section = text.substr(1, text.size() - 2);
    const std::size_t separator = text.find_first_of("=:");
    if (separator == std::string_view::npos || text.starts_with('#') || text.starts_with(';')) continue;
    const std::string_view key = trimmed(text.substr(0, separator));
    const std::string_view value = trimmed(text.substr(separator + 1));
    if ((key != "index-url" && key != "index_url") || value.empty()) continue;
    if (section == "global") of_all = value;
    if (section == "download" || section == "install") of_command = value;
  }
  return of_command ? of_command : of_all;
}

std::optional<std::string> pip_index_url() {
  for (const fs::path& file : configuration_files()) {
    try {
      if (auto url = index_url_of(base::read_text_file(file))) return url;
    } catch (const Error&) {
      continue;  // most are not there
    }
  }
  return std::nullopt;
}

}  // namespace alate::hub
