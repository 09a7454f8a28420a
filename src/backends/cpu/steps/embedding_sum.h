// The addends of an embedding step, `embed_norm`: lookups and other rows whose sum is normalized in the same pass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// One addend by the places of its operands among the step's inputs. It has a row for each place of the result's axes
/// [first_axis, the last), and repeats along those before.
struct EmbeddingInput {
  std::size_t table = 0;                    // [rows, width], or without indices the rows themselves
  std::optional<std::size_t> indices = {};  // of the rows that are taken
  std::optional<std::size_t> scales = {};   // of a table of integers, one a row
  std::size_t first_axis = 0;
};

/// In the order in which they are added. Behind their operands the step has two more inputs: scale and shift of the
/// norm, whose attributes are the step's.
struct EmbeddingSum {
  std::vector<EmbeddingInput> addends;
};

/// Bit i: row r of the result depends on row r of the step's input i alone.
std::uint32_t embedding_rows(const EmbeddingSum& sum);

/// Runs the step.
void run_embed_norm(const Step& step, const Frame& frame);

/// Rows that are taken, what scales them, and what each of these has to be told; the norm's operations, an addition for
/// each addend but one, and a multiplication for each number in integers.
backends::Work embed_norm_work(const Step& step, const Frame& frame);

}  // namespace alate::cpu
