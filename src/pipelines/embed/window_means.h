// Texts that are longer than an embedding model reads at once, as the mean of what their windows give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "alate/embedding.h"
#include "base/threads/cancellation.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/calls/prepared_rows.h"

namespace alate::pipelines {

/// How the rows of a call are read in windows.
struct WindowFrame {
  std::string_view prompt;                            // before each window
  std::int32_t pool_skip = 0;                         // BatchRow::pool_skip of rows with it
  std::size_t limit = 0;                              // tokens of a row
  std::size_t most_tokens = CallLimits().row_tokens;  // of all rows
};

/// Puts windows in the place of the rows that were cut, with PreparedRows::inputs and weights: a window's weight is the
/// number of the text's tokens in it. Throws invalid_argument for a prompt that leaves no room and a stride as long as
/// a window, resource_exhausted for windows that repeat a text very often, and for too many tokens.
void read_in_windows(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                     const EmbedOptions& options, const WindowFrame& frame, PreparedRows& prepared,
                     const base::Cancellation& cancellation);

/// Of finished vectors [rows, kept], in place: the mean of each text's windows, weighted, and normalized where vectors
/// are. Returns how many numbers are left, at the front.
std::size_t join_windows(const EmbeddingPipeline& pipeline, const EmbedOptions& options,
                         std::span<const std::size_t> inputs, std::span<const std::size_t> weights,
                         std::span<float> vectors);

}  // namespace alate::pipelines
