#include "models/inputs/encoder_inputs.h"

#include <utility>

#include "models/inputs/word_inputs.h"

namespace alate::models {

EncoderInputs declare_encoder_inputs(graph::Builder& b, TokenPlaces places) {
  EncoderInputs in;
  // Dims may be padded: added tokens belong to no sequence, and added sequences have no tokens.
  in.tokens = b.dim("tokens", 1, {}, true);
  in.sequences = b.dim("sequences", 1, {}, true);
  in.longest = b.dim("longest", 1, {}, true);
  const auto of = [&](const char* name, std::vector<Dim> dims) {
    return b.parameter(name, {DType::i32, std::move(dims)});
  };
  in.ids = of("input_ids", {in.tokens});
  in.type_ids = of("token_type_ids", {in.tokens});
  in.positions = of("position_ids", {in.tokens});
  in.starts = of("starts", {in.sequences});
  in.lengths = of("lengths", {in.sequences});
  in.key_lengths = of("key_lengths", {in.sequences});
  in.first = of("first", {in.sequences});
  in.pool_starts = of("pool_starts", {in.sequences});
  in.pool_lengths = of("pool_lengths", {in.sequences});
  in.range = of("range", {in.longest});
  if (places == TokenPlaces::given)
    in.by_place = {.places = of("places", {in.tokens}), .masked = of("masked_places", {in.sequences})};
  return in;
}

std::vector<CountedDim> counted_dims(const EncoderInputs& inputs) {
  // Work grows with the number of tokens, so a few more cost little; each further sequence is as long as the longest.
  return {{inputs.tokens, [](std::size_t tokens, const RowParts&) { return tokens; }, kFewestTokens},
          {inputs.sequences, [](std::size_t, const RowParts&) { return std::size_t{1}; }},
          {.dim = inputs.longest, .fewest = kFewestTokens}};
}

backends::DimSettings usual_sizes(std::int64_t rows, std::int64_t length) {
  backends::DimSettings sizes = {{"tokens", rows * length}, {"sequences", rows}, {"longest", length}};
  append_word_sizes(rows, length, sizes);
  return sizes;
}

}  // namespace alate::models
