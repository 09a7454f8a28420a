#include "models/blocks/token_convolution.h"

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "graph/builder_functions.h"
#include "models/blocks/places.h"

namespace alate::models {
namespace {

using graph::Value;

// Finds the tokens at other places of each token's sequence.
class Neighbours {
 public:
  explicit Neighbours(EncoderScope& scope) : scope_(scope) {
    graph::Builder& b = scope.b;
    token_ = b.iota({}, {.dtype = DType::i32, .dims = {scope.in.tokens}, .axis = 0});
    const graph::PackedRows tokens = packed_tokens(scope);
    index_ = tokens.place;
    length_ = graph::take_rows(b, scope.in.lengths, tokens.sequence);
  }

  /// x at `distance` places after each token.
  Value rows_at(Value x, std::int64_t distance) const {
    if (distance == 0) return x;
    if (!scope_.in.by_place) return rows_of(x, distance, {});
    // Some of the places between may be masked: that token is nearer in the sequence than in the row, or there is none.
    std::optional<Value> sum;
    const std::int64_t side = distance < 0 ? -1 : 1;
    for (std::int64_t steps = side; std::abs(steps) <= std::abs(distance); steps += side) {
      const Value rows = rows_of(x, steps, distance);
      sum = sum ? scope_.b.add({*sum, rows}) : rows;
    }
    return *sum;
  }

 private:
  // x of the token `steps` further in the sequence, if it is `distance` places away; else zeros.
  Value rows_of(Value x, std::int64_t steps, std::optional<std::int64_t> distance) const {
    graph::Builder& b = scope_.b;
    const auto moved = [&](Value from, std::int64_t by) {
      return b.add({from, graph::scalar_like(b, static_cast<double>(by), from)});
    };
    const Value index = moved(index_, steps), token = moved(token_, steps);
    Value counts =
        b.logical_and({b.greater_or_equal({index, graph::scalar_like(b, 0, index)}), b.less({index, length_})});
    if (distance) {
      const Value places = scope_.in.by_place->places;
      counts = b.logical_and({counts, b.equal({graph::take_rows(b, places, token), moved(places, *distance)})});
    }
    const Value rows = graph::take_rows(b, x, token);
    const Value of_rows = b.broadcast_in_dim({counts}, {.dims = b.shape(rows).dims, .mapping = {0}});
    return b.select({of_rows, rows, graph::scalar_like(b, 0, rows)});
  }

  EncoderScope& scope_;
  Value token_, index_, length_;
};

}  // namespace

Value convolve_tokens(EncoderScope& scope, const std::string& name, Value x, std::int64_t width, std::int64_t kernel) {
  graph::Builder& b = scope.b;
  const Neighbours neighbours(scope);
  std::vector<Value> taps;
  for (std::int64_t tap = 0; tap < kernel; ++tap) taps.push_back(neighbours.rows_at(x, tap - kernel / 2));
  const Value weight = scope.weights.get(b, name + ".weight", {width, width, kernel});
  const Value by_tap =
      b.reshape({b.transpose({weight}, {.permutation = {0, 2, 1}})}, {.dims = {width, kernel * width}});
  return b.dense({b.concatenate(taps, {.axis = 1}), by_tap, scope.weights.get(b, name + ".bias", {width})},
                 {.has_bias = true});
}

}  // namespace alate::models
