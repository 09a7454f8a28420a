#include "apps/alate/texts/whole_file.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "alate/error.h"
#include "apps/alate/texts/line_reader.h"
#include "base/files/descriptor_io.h"
#include "base/log.h"

namespace alate::app {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 30;

}  // namespace

void read_whole_file(TextInput& input) {
  const bool is_standard = input.file.empty() || input.file == "-";
  if (is_standard && base::is_terminal(base::kStandardInput))
    base::log(base::LogLevel::warn, "reading one text from the terminal; Ctrl-D ends it");
  LineReader lines(is_standard ? std::filesystem::path() : std::filesystem::path(input.file));
  std::string text;
  while (const auto line = lines.next()) {
    if (lines.number() > 1) text += '\n';
    text += *line;
    if (text.size() > kLongestText)
      throw make_error(ErrorCode::resource_exhausted, is_standard ? "standard input" : input.file,
                       " has more than 1 GiB; split it");
  }
  input.arguments = {std::move(text)};
  input.file.clear();
}

}  // namespace alate::app
