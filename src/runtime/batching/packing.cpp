#include "runtime/batching/packing.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "alate/error.h"

namespace alate::runtime {
namespace {

using Ints = std::vector<std::int32_t>;

void require_size(const char* what, std::size_t found, std::size_t wanted) {
  if (found != wanted)
    throw make_error(ErrorCode::invalid_argument, what, " has ", found, " entries where the batch has ", wanted);
}

std::size_t checked_total(const PackedTokens& tokens) {
  std::size_t total = 0;
  for (const std::int32_t length : tokens.lengths) {
    if (length < 0)
      throw make_error(ErrorCode::invalid_argument, "a sequence has the length ", length,
                       ": lengths cannot be negative");
    total += static_cast<std::size_t>(length);
  }
  require_size("ids", tokens.ids.size(), total);
  if (!tokens.type_ids.empty()) require_size("type_ids", tokens.type_ids.size(), total);
  if (!tokens.positions.empty()) require_size("positions", tokens.positions.size(), total);
  if (!tokens.pool_skip.empty()) require_size("pool_skip", tokens.pool_skip.size(), tokens.lengths.size());
  if (total > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::resource_exhausted, "a batch has more than 2^31 tokens: split it");
  }
  return total;
}

Error unknown_entry(const char* what, std::int32_t value, std::size_t row, std::size_t place, std::int64_t limit) {
  return make_error(ErrorCode::invalid_argument, what, " ", value, " of row ", row, " at place ", place,
                    " is not among the ", limit, " that the model has");
}

// Every value must be an entry of a table with `limit` rows.
void require_below(const char* what, const Ints& values, std::int64_t limit, const Ints& sequence_of,
                   const Ints& starts, std::size_t first_row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < limit) continue;
    const auto sequence = static_cast<std::size_t>(sequence_of[i]);
    throw unknown_entry(what, values[i], first_row + sequence, i - static_cast<std::size_t>(starts[sequence]), limit);
  }
}

// Attention's work grows with the square of a sequence's length.
void require_lengths(const Ints& lengths, std::int64_t limit, std::size_t first_row) {
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] > limit) throw too_long(first_row + s, lengths[s], limit);
  }
}

backends::Buffer row_of(const Ints& values) {
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, std::span(values));
}

// Entries [first, last) of a list that may be absent.
template <typename Entry>
std::vector<Entry> range_of(const std::vector<Entry>& values, std::size_t first, std::size_t last) {
  if (values.empty()) return {};
  return {values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(last)};
}

Ints counted_positions(const PackedTokens& tokens, const models::EncoderLimits& limits) {
  Ints positions;
  positions.reserve(tokens.ids.size());
  std::span<const std::int32_t> rest = tokens.ids;
  for (const std::int32_t length : tokens.lengths) {
    models::append_positions(limits, rest.first(static_cast<std::size_t>(length)), positions);
    rest = rest.subspan(static_cast<std::size_t>(length));
  }
  return positions;
}

}  // namespace

Error too_long(std::size_t row, std::int64_t tokens, std::int64_t limit) {
  return make_error(ErrorCode::invalid_argument, "row ", row, " has ", tokens, " tokens; the model takes ", limit);
}

void require_row(std::span<const std::int32_t> ids, const models::EncoderLimits& limits, std::size_t row) {
  if (static_cast<std::int64_t>(ids.size()) > limits.positions)
    throw too_long(row, static_cast<std::int64_t>(ids.size()), limits.positions);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= limits.vocabulary) throw unknown_entry("token id", ids[i], row, i, limits.vocabulary);
  }
}

std::span<const std::int32_t> checked_lengths(const PackedTokens& tokens, const PackingOptions& options) {
  checked_total(tokens);
  const std::size_t sequences = tokens.lengths.size();
  if (!options.key_lengths.empty()) require_size("key_lengths", options.key_lengths.size(), sequences);
  if (!options.first.empty()) require_size("first", options.first.size(), sequences);
  if (!options.places.empty()) require_size("places", options.places.size(), tokens.ids.size());
  if (!options.masked_places.empty()) require_size("masked_places", options.masked_places.size(), sequences);
  if (!options.parts.empty()) require_size("parts", options.parts.size(), sequences);
  return tokens.lengths;
}

PackedTokens part_of(const PackedTokens& tokens, const BatchPart& part) {
  return {.ids = range_of(tokens.ids, part.first_token, part.last_token),
          .type_ids = range_of(tokens.type_ids, part.first_token, part.last_token),
          .positions = range_of(tokens.positions, part.first_token, part.last_token),
          .lengths = range_of(tokens.lengths, part.first, part.last),
          .pool_skip = range_of(tokens.pool_skip, part.first, part.last)};
}

PackingOptions part_of(const PackingOptions& options, const BatchPart& part) {
  return {.key_lengths = range_of(options.key_lengths, part.first, part.last),
          .first = range_of(options.first, part.first, part.last),
          .places = range_of(options.places, part.first_token, part.last_token),
          .masked_places = range_of(options.masked_places, part.first, part.last),
          .parts = range_of(options.parts, part.first, part.last),
          .first_row = options.first_row + part.first};
}

std::vector<backends::Buffer> pack(const PackedTokens& tokens, const models::EncoderLimits& limits,
                                   const PackingOptions& options, models::TokenPlaces places_taken) {
  const std::size_t sequences = checked_lengths(tokens, options).size(), total = tokens.ids.size();
  if (total == 0) throw Error(ErrorCode::invalid_argument, "a batch needs at least one token");
  Ints starts(sequences), sequence_of(total), places(total);
  std::int32_t next = 0;
  for (std::size_t s = 0; s < sequences; ++s) {
    starts[s] = next;
    for (std::int32_t i = 0; i < tokens.lengths[s]; ++i, ++next) {
      sequence_of[static_cast<std::size_t>(next)] = static_cast<std::int32_t>(s);
      places[static_cast<std::size_t>(next)] = i;
    }
  }
  const Ints types = tokens.type_ids.empty() ? Ints(total, 0) : tokens.type_ids;
  const Ints positions = tokens.positions.empty() ? counted_positions(tokens, limits) : tokens.positions;
  // Before the positions, which say less. Given positions do not limit the length: they may all be small.
  require_lengths(tokens.lengths, limits.positions, options.first_row);
  require_below("token id", tokens.ids, limits.vocabulary, sequence_of, starts, options.first_row);
  if (limits.types > 0) require_below("token type", types, limits.types, sequence_of, starts, options.first_row);
  require_below("position", positions, limits.position_rows(), sequence_of, starts, options.first_row);

  Ints range(static_cast<std::size_t>(std::ranges::max(tokens.lengths)));
  std::iota(range.begin(), range.end(), 0);

  Ints first = starts, pool_starts = starts, pool_lengths = tokens.lengths;
  for (std::size_t s = 0; s < sequences; ++s) {
    if (!options.first.empty()) first[s] += options.first[s];
    first[s] = std::min(first[s], static_cast<std::int32_t>(total - 1));  // of an empty sequence at the end
    if (tokens.pool_skip.empty()) continue;
    const std::int32_t skip = std::clamp(tokens.pool_skip[s], 0, tokens.lengths[s]);
    pool_starts[s] += skip;
    pool_lengths[s] -= skip;
  }
  std::vector<backends::Buffer> inputs = {
      row_of(tokens.ids),     row_of(types),
      row_of(positions),      row_of(starts),
      row_of(tokens.lengths), row_of(options.key_lengths.empty() ? tokens.lengths : options.key_lengths),
      row_of(first),          row_of(pool_starts),
      row_of(pool_lengths),   row_of(range)};
  if (places_taken == models::TokenPlaces::given) {
    inputs.push_back(row_of(options.places.empty() ? places : options.places));
    inputs.push_back(row_of(options.masked_places.empty() ? Ints(sequences, 0) : options.masked_places));
  }
  return inputs;
}

}  // namespace alate::runtime
