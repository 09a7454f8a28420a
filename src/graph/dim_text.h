// How forms of sizes are written: "2*tokens+(length-1)/2".
#pragma once

#include <string>
#include <string_view>

#include "graph/dims.h"

namespace alate::graph {

/// Quotients are rounded down. `name_text` writes a name.
std::string text_of(const DimForm& form, const DimTable& dims, std::string (*name_text)(std::string_view name));

}  // namespace alate::graph
