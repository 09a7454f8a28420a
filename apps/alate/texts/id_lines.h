// Token ids to decode, from arguments or lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/alate/texts/text_source.h"

namespace alate::app {

/// Prepares the input of `next_ids`: arguments that are plain ids are one text together.
TextInput input_of_ids(TextInput input);

/// The ids of the next text; nothing at the end. A line is plain ids ("101 2054 102"), a JSON list, or a JSON object
/// with a list "ids"; empty lines are skipped. Throws RefusedText with the line's number.
std::optional<std::vector<std::int32_t>> next_ids(TextSource& source);

}  // namespace alate::app
