// Texts that are longer than a model takes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace alate {

/// What is done with a text that has too many tokens: the call fails; its end is left out; its beginning is left out;
/// or it is read in windows that overlap, whose answers are put together as the task says.
enum class LongTexts { error, cut, cut_left, windows };
/// "cut-left".
std::string_view to_string(LongTexts treatment);
/// The inverse; nothing for an unknown name.
std::optional<LongTexts> parse_long_texts(std::string_view name);

/// Of calls over texts.
struct LongTextOptions {
  // In tokens, special ones included. Absent: as the model states.
  std::optional<std::size_t> max_length = {};
  // Absent: the end is left out by tasks that score a whole text; tasks that find parts of it use windows.
  std::optional<LongTexts> treatment = {};
  // Tokens that a window shares with the one before it. Absent: a quarter of what a window holds of the text.
  std::optional<std::size_t> stride = {};
};

}  // namespace alate
