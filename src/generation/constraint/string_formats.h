// The formats of strings in JSON schemas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace alate::generation {

/// The regular expression of a format's strings, which are a part of those that the format's standard allows; nothing
/// for an unknown format.
std::optional<std::string> format_pattern(std::string_view format);
/// The known ones, for errors: "date, time, …".
std::string format_names();

}  // namespace alate::generation
