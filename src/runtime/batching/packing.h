// Conversion of packed texts to the input tensors of an encoder's graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "backends/backend.h"
#include "models/encoder.h"
#include "runtime/batching/batch_parts.h"
#include "runtime/batching/batch_program.h"

namespace alate::runtime {

/// Optional inputs of a packed batch; see models::EncoderInputs. Empty lists: every token is visible as a key, and the
/// first one stands for the sequence.
struct PackingOptions {
  std::vector<std::int32_t> key_lengths;
  std::vector<std::int32_t> first;          // index within the sequence
  std::vector<std::int32_t> places;         // of each token in its row; for graphs that take them (models::PlaceInputs)
  std::vector<std::int32_t> masked_places;  // of each row
  std::vector<const models::RowParts*> parts;  // of each row; for graphs that take them (models::RowInputs)
  std::size_t first_row = 0;                   // index in the whole batch of the first of these rows, for messages
};

/// invalid_argument for a row longer than the model takes.
Error too_long(std::size_t row, std::int64_t tokens, std::int64_t limit);

/// Throws too_long, or invalid_argument naming the row and place of an id that the model does not have.
void require_row(std::span<const std::int32_t> ids, const models::EncoderLimits& limits, std::size_t row);

/// The lengths of a batch's sequences. Throws invalid_argument where other lists disagree with them, resource_exhausted
/// for a batch of too many tokens.
std::span<const std::int32_t> checked_lengths(const PackedTokens& tokens, const PackingOptions& options = {});

/// Only the rows of a part. The batch must have passed checked_lengths.
PackedTokens part_of(const PackedTokens& tokens, const BatchPart& part);
PackingOptions part_of(const PackingOptions& options, const BatchPart& part);

/// The graph's inputs in order. Throws too_long, and invalid_argument naming the sequence and place of an id, type or
/// position that the model does not have, and for lists whose lengths disagree. There must be at least one token.
std::vector<backends::Buffer> pack(const PackedTokens& tokens, const models::EncoderLimits& limits,
                                   const PackingOptions& options = {},
                                   models::TokenPlaces places = models::TokenPlaces::consecutive);

}  // namespace alate::runtime
