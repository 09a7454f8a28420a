// Parameters of graphs that read keys and values of earlier tokens from the pages of a cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"

namespace alate::models {

struct EncoderInputs;

/// All i32.
struct PageInputs {
  graph::Value table;  // [sequences, most_pages]: the pages of each sequence, in order; any page past its own
  graph::Value slots;  // [tokens]: where each token's keys and values are written, page · page_rows + row; -1: nowhere
  graph::Value last_positions;  // [sequences]: of the whole text, with tokens that later steps compute
  graph::Value asked;           // [asked_tokens]: the tokens whose logits are computed; none of a prompt that goes on
  Dim pages, most_pages, asked_tokens;
  std::int64_t page_rows = 0;
};

/// Declares them after all others. The cache has `page_rows` tokens a page.
PageInputs declare_page_inputs(graph::Builder& b, const EncoderInputs& inputs, std::int64_t page_rows);

/// Something that a step keeps for each token: a donated parameter [pages, page_rows, row], and the output that takes
/// its memory.
struct CacheSpec {
  std::string name;  // "layers.0.key", of the parameter and the output
  DType dtype = DType::f32;
  std::vector<std::int64_t> row;  // [kv heads, width]

  std::size_t bytes_per_token() const;
};
using CacheLayout = std::vector<CacheSpec>;

/// Over all of them.
std::size_t bytes_per_token(std::span<const CacheSpec> layout);

}  // namespace alate::models
