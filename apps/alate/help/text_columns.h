// Plain text in columns, wrapped at words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace alate::app {

/// Width of all help.
inline constexpr std::size_t kHelpWidth = 100;

/// `text` with every line but the first indented by `indent`, at most `width` columns wide where words allow; the first
/// line begins at `column`. No line end after the last line.
std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t column = 0,
                    std::size_t width = kHelpWidth);

/// "  LEFT      RIGHT", RIGHT wrapped in a column of its own; on the next line if LEFT is too long. Ends the last line.
std::string two_columns(std::string_view left, std::string_view right, std::size_t column);

}  // namespace alate::app
