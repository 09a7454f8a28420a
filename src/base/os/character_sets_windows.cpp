#include "base/os/character_sets.h"

namespace alate::base {

std::optional<std::string> convert_to_utf8(std::string_view, const std::string&) { return std::nullopt; }

}  // namespace alate::base
