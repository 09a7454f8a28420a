// Splitting of text at separators.
#pragma once

#include <string_view>
#include <vector>

namespace alate::base {

/// The parts between separators: one more than there are separators; parts may be empty. Views of `text`.
std::vector<std::string_view> split_text(std::string_view text, char separator);

}  // namespace alate::base
