// Patterns of file names, as --include and --exclude take them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alate::hub {

/// Whether the whole name matches: * is any text, / included, ? any byte, [a-z] and [!a-z] one of a set. A pattern that
/// ends with / means all files in that folder. As huggingface_hub's filter, which is Python's fnmatch. Takes time in
/// proportion to both lengths at most.
bool matches_pattern(std::string_view name, std::string_view pattern);
bool matches_any(std::string_view name, const std::vector<std::string>& patterns);

}  // namespace alate::hub
