// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace alate::base {

/// The nearest known name, at most a third of the length in edits (insertions, deletions, replacements, swaps of
/// neighbours) away; empty if none.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

/// The same however far away it is; empty only if there are none, or for a name of over 64 bytes.
std::string_view closest_name(std::string_view name, std::span<const std::string_view> known);

/// The end of a message about an unknown name, "; did you mean NEAREST?"; empty when no name is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace alate::base
