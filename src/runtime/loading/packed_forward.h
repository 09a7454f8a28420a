// Model::forward over a packed entry point: padded rows in, packed through the encoder, padded rows out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

/// The inputs of forward: [batch, length] each.
inline constexpr std::array<std::string_view, 4> kTokenInputs = {"input_ids", "attention_mask", "token_type_ids",
                                                                 "position_ids"};

/// As Model::forward, over the entry point "forward".
NamedTensors packed_forward(const Model::State& model, const NamedTensors& inputs, const backends::RunOptions& options);
/// The ids of each row's places with mask 1. Throws as packed_forward.
std::vector<std::vector<std::int32_t>> visible_rows(const NamedTensors& inputs, const models::EncoderLimits& limits);
/// What it gives.
std::vector<ForwardOutput> packed_forward_outputs(const EntryPoint& entry_point);

}  // namespace alate::runtime
