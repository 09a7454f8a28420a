// The addends of an embedding step, `embed_norm`: lookups and other rows whose sum is normalized in the same pass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// One addend, as indices into the step's inputs. It has a row for each position of the result's axes [first_axis, the
/// last), and is broadcast along the axes before.
struct EmbeddingInput {
  std::size_t table = 0;                    // [rows, width]; without indices, the rows themselves
  std::optional<std::size_t> indices = {};  // of the rows to look up
  std::optional<std::size_t> scales = {};   // of an integer table, one per row
  std::size_t first_axis = 0;
};

/// Addends in the order of addition. After their operands the step has two more inputs: scale and shift of the
/// norm, whose attributes are the step's.
struct EmbeddingSum {
  std::vector<EmbeddingInput> addends;
};

/// The step's inputs that go row by row, as in row_operands.h.
std::uint32_t embedding_rows(const Step& step);

/// Runs the step.
void run_embed_norm(const Step& step, const Frame& frame);

/// Bytes: the rows looked up, their scales and indices. Operations: the norm's, an addition per addend but one, and a
/// multiplication per integer value.
backends::Work embed_norm_work(const Step& step, const Frame& frame);

}  // namespace alate::cpu
