// Helpers shared by shape rules of ops with windows.
#pragma once

#include <string>

#include "graph/infer.h"
#include "graph/window_axis.h"

namespace alate::graph {

/// Throws unless `list` is empty or has `count` entries, none below `lowest`.
void require_entries(const InferenceInput& input, const Numbers& list, std::size_t count, std::int64_t lowest,
                     std::string_view name);

/// The number of windows along an axis of the operand. The axis may be named if the result has the same extent. Throws
/// if a length would overflow.
Dim window_count(const InferenceInput& input, std::string_view axis, Dim extent, const WindowAxis& window);

}  // namespace alate::graph
