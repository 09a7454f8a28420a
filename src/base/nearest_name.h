// "Did you mean": the known name that a mistyped one is nearest to.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace alate::base {

/// The name within a third of its length in edits (insertions, deletions, replacements); empty when none is.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

/// The end of a message about an unknown name, "; did you mean NEAREST?"; empty when no name is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace alate::base
