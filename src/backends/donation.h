// Donated parameters: which aliases of a graph a backend copies, and refusing large copies.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace alate::backends {

/// The largest copy of a donated parameter that CompileOptions::refuse_large_copies accepts.
inline constexpr std::size_t kMostCopiedBytes = std::size_t{64} << 20;

/// The graph's aliases, each as a copy for this reason.
std::vector<AliasFacts> copied_aliases(const graph::Graph& graph, std::string_view reason);

/// Throws unsupported if `options` refuses large copies and one of `aliases`, which are the graph's, is a copy of a
/// parameter that can have more than kMostCopiedBytes. The message names backend, parameter, size, reason and remedy.
void require_small_copies(std::string_view backend, const graph::Graph& graph, std::span<const AliasFacts> aliases,
                          const CompileOptions& options);

}  // namespace alate::backends
