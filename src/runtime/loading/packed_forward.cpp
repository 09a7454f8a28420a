#include "runtime/loading/packed_forward.h"

#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "runtime/batching/packing.h"

namespace alate::runtime {
namespace {

struct Padded {
  std::int64_t batch = 0, length = 0;
  std::vector<std::int64_t> ids, mask, types, positions;
};

std::vector<std::int64_t> integers(const Tensor& tensor, const char* name) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.element_count()));
  const auto copy = [&](auto span) { std::copy(span.begin(), span.end(), values.begin()); };
  switch (tensor.dtype()) {
    case DType::i64: copy(tensor.values<std::int64_t>()); return values;
    case DType::i32: copy(tensor.values<std::int32_t>()); return values;
    case DType::boolean: copy(tensor.values<bool>()); return values;
    case DType::u8: copy(tensor.values<std::uint8_t>()); return values;
    case DType::f32:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = tensor.values<float>()[i] != 0 ? 1 : 0;
      if (std::string_view(name) == "attention_mask") return values;
      break;
    default: break;
  }
  throw make_error(ErrorCode::invalid_argument, "input '", name, "' has dtype ", to_string(tensor.dtype()),
                   ": integers are wanted (i64 or i32)");
}

// A number in the encoder's type; one that does not fit becomes -1, which is in no table.
std::int32_t narrow(std::int64_t value) {
  return value < 0 || value > INT32_MAX ? -1 : static_cast<std::int32_t>(value);
}

// The position of each place of the rows, masked ones included: what the reference makes of the ids.
std::vector<std::int64_t> counted_positions(const Padded& padded, const models::EncoderLimits& limits) {
  std::vector<std::int32_t> ids, positions;
  ids.reserve(static_cast<std::size_t>(padded.length));
  positions.reserve(padded.ids.size());
  for (std::int64_t row = 0; row < padded.batch; ++row) {
    ids.clear();
    for (std::int64_t i = row * padded.length; i < (row + 1) * padded.length; ++i)
      ids.push_back(narrow(padded.ids[static_cast<std::size_t>(i)]));
    models::append_positions(limits, ids, positions);
  }
  return {positions.begin(), positions.end()};
}

Padded read_inputs(const NamedTensors& inputs, const models::EncoderLimits& limits) {
  Padded padded;
  for (const auto& [name, tensor] : inputs) {
    if (std::ranges::find(kTokenInputs, name) == kTokenInputs.end()) {
      throw make_error(ErrorCode::invalid_argument, "the model has no input '", name,
                       "': it takes input_ids, attention_mask, token_type_ids and position_ids");
    }
  }
  const auto ids = inputs.find("input_ids");
  if (ids == inputs.end())
    throw Error(ErrorCode::invalid_argument, "input 'input_ids' is missing: give it as [batch, length] integers");
  if (ids->second.rank() != 2)
    throw make_error(ErrorCode::invalid_argument, "input 'input_ids' is ", to_string(ids->second.shape()),
                     ", not [batch, length]");
  padded.batch = ids->second.extent(0);
  padded.length = ids->second.extent(1);
  const auto read = [&](const char* name, std::int64_t otherwise) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      return std::vector<std::int64_t>(static_cast<std::size_t>(padded.batch * padded.length), otherwise);
    const Tensor& tensor = found->second;
    const bool one_row = std::string_view(name) == "position_ids" && tensor.rank() == 2 && tensor.extent(0) == 1 &&
                         tensor.extent(1) == padded.length;
    if (tensor.shape().dims != ids->second.shape().dims && !one_row) {
      throw make_error(ErrorCode::invalid_argument, "input '", name, "' is ", to_string(tensor.shape()),
                       " but input_ids is ", to_string(ids->second.shape()));
    }
    std::vector<std::int64_t> values = integers(tensor, name);
    for (std::int64_t row = 1; one_row && row < padded.batch; ++row)
      values.insert(values.end(), values.begin(), values.begin() + padded.length);
    return values;
  };
  padded.ids = read("input_ids", 0);
  padded.mask = read("attention_mask", 1);
  padded.types = read("token_type_ids", 0);
  if (inputs.contains("position_ids")) {
    padded.positions = read("position_ids", 0);
  } else {
    padded.positions = counted_positions(padded, limits);
  }
  return padded;
}

// The visible places of a row.
struct VisiblePlaces {
  std::int64_t first = -1, last = -1, count = 0;

  bool is_broken() const { return count > 0 && last - first + 1 != count; }
  bool hides_first() const { return first > 0; }
};

VisiblePlaces visible_places(const Padded& padded, std::int64_t row) {
  VisiblePlaces visible;
  for (std::int64_t i = 0; i < padded.length; ++i) {
    if (padded.mask[static_cast<std::size_t>(row * padded.length + i)] == 0) continue;
    if (visible.first < 0) visible.first = i;
    visible.last = i;
    ++visible.count;
  }
  return visible;
}

// Some rows in packed form, and the origin of each packed token.
struct Chunk {
  PackedTokens tokens;
  PackingOptions options;
  std::vector<std::int64_t> place;  // of each packed token in [batch · length]; -1: its output row is not needed
};

void add_token(Chunk& chunk, const Padded& padded, std::int64_t place, bool wanted) {
  const auto at = static_cast<std::size_t>(place);
  chunk.tokens.ids.push_back(narrow(padded.ids[at]));
  chunk.tokens.type_ids.push_back(narrow(padded.types[at]));
  chunk.tokens.positions.push_back(narrow(padded.positions[at]));
  chunk.options.places.push_back(narrow(place % padded.length));
  chunk.place.push_back(wanted ? place : -1);
}

// Adds a row's tokens with mask 1. Where a head reads the row's first token even if the mask hides it, that token is
// added last, and attends but is masked as a key.
void add_row(Chunk& chunk, const Padded& padded, std::int64_t row, std::int64_t most_tokens, bool reads_first) {
  const VisiblePlaces visible = visible_places(padded, row);
  const auto seen = static_cast<std::int32_t>(visible.count);
  // Here, where rows are looked at in order: parts of a batch run side by side, and the first to fail is any.
  if (seen > most_tokens) throw too_long(static_cast<std::size_t>(row), seen, most_tokens);
  for (std::int64_t i = row * padded.length; i < (row + 1) * padded.length; ++i) {
    if (padded.mask[static_cast<std::size_t>(i)] != 0) add_token(chunk, padded, i, true);
  }
  const bool adds_first = reads_first && visible.hides_first();
  if (adds_first) add_token(chunk, padded, row * padded.length, false);
  chunk.tokens.lengths.push_back(seen + (adds_first ? 1 : 0));
  chunk.options.key_lengths.push_back(seen);
  chunk.options.first.push_back(adds_first ? seen : 0);
  chunk.options.masked_places.push_back(narrow(padded.length - seen));
}

// Whether attention depends on distances that packing changes, as it moves tokens next to each other. `reads_first`: a
// head reads the first place of a row, masked or not.
bool needs_places(const Padded& padded, const models::EncoderLimits& limits, bool reads_first) {
  if (!limits.window) return false;
  for (std::int64_t row = 0; row < padded.batch; ++row) {
    const VisiblePlaces visible = visible_places(padded, row);
    const bool is_moved = visible.is_broken() && visible.last - visible.first > *limits.window;
    if (is_moved || (reads_first && visible.hides_first() && visible.last > *limits.window)) return true;
  }
  return false;
}

// A masked first place whose window has no visible token sees nothing: the reference's result is then a mean over
// masked tokens, which depends on the padding.
void require_first_in_window(const Padded& padded, std::int64_t window) {
  for (std::int64_t row = 0; row < padded.batch; ++row) {
    const VisiblePlaces visible = visible_places(padded, row);
    if (visible.first > window)
      throw make_error(ErrorCode::unsupported, "row ", row, " of attention_mask begins with ", visible.first,
                       " zeros; this model's head reads the first place, whose attention ends after ", window,
                       " places: give rows whose first tokens are not masked: attention_mask");
  }
}

// Scatters a chunk's rows into [batch, length, …] or [batch, …].
void scatter(const Tensor& from, bool per_token, const Chunk& chunk, std::int64_t first_row, Tensor& to,
             std::int64_t row_count) {
  const std::size_t count = per_token ? chunk.place.size() : chunk.tokens.lengths.size();
  if (count == 0 || from.byte_count() == 0) return;
  const std::size_t bytes = to.byte_count() / static_cast<std::size_t>(row_count);
  std::byte* out = to.mutable_bytes().data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t place = per_token                     ? chunk.place[i]
                               : chunk.tokens.lengths[i] > 0 ? first_row + static_cast<std::int64_t>(i)
                                                             : -1;
    if (place >= 0) std::memcpy(out + static_cast<std::size_t>(place) * bytes, from.bytes().data() + i * bytes, bytes);
  }
}

// The rows of a question's choices, one after the other: [batch, choices, length] as [batch · choices, length].
NamedTensors choices_as_rows(const NamedTensors& inputs) {
  NamedTensors rows;
  for (const auto& [name, tensor] : inputs) {
    if (tensor.rank() != 3)
      throw make_error(ErrorCode::invalid_argument, "input '", name, "' is ", to_string(tensor.shape()),
                       " but input_ids is [batch, choices, length]");
    const Shape choices{tensor.dtype(), {tensor.extent(0), tensor.extent(1)}};
    rows.emplace(name, tensor.reshaped({choices.element_count(), tensor.extent(2)}));
  }
  return rows;
}

}  // namespace

NamedTensors packed_forward(const Model::State& model, const NamedTensors& inputs,
                            const backends::RunOptions& options) {
  if (const auto ids = inputs.find("input_ids");
      ids != inputs.end() && ids->second.rank() == 3 && model.takes_choices()) {
    const std::int64_t batch = ids->second.extent(0), choices = ids->second.extent(1);
    NamedTensors results = packed_forward(model, choices_as_rows(inputs), options);
    for (auto& [name, tensor] : results) tensor = tensor.reshaped({batch, choices});
    return results;
  }
  const Padded padded = read_inputs(inputs, model.limits());
  const EntryPoint& usual = model.forward_entry_point();
  const bool reads_first = usual.reads_first();
  if (reads_first && model.limits().window_hides && model.limits().window)
    require_first_in_window(padded, *model.limits().window);
  const bool takes_places = needs_places(padded, model.limits(), reads_first);
  const EntryPoint& program = takes_places ? model.forward_by_place_entry_point() : usual;
  NamedTensors results;
  for (std::size_t i = 0; i < program.outputs().size(); ++i) {
    const backends::Port& port = program.outputs()[i];
    Shape shape{port.shape.dtype, {padded.batch}};
    if (program.is_per_token(i)) shape.dims.emplace_back(padded.length);
    shape.dims.insert(shape.dims.end(), port.shape.dims.begin() + 1, port.shape.dims.end());
    results.emplace(port.name, Tensor::zeros(std::move(shape)));
  }
  const std::size_t most_tokens = program.batch_hint().rows;  // in a run; rows are never split
  for (std::int64_t row = 0; row < padded.batch;) {
    Chunk chunk;
    const std::int64_t first_row = row;
    chunk.options.first_row = static_cast<std::size_t>(first_row);
    // By place, memory grows with pairs of places, and so with padding.
    const auto size = [&] {
      return takes_places ? static_cast<std::size_t>((row - first_row) * padded.length) : chunk.tokens.ids.size();
    };
    while (row < padded.batch &&
           (chunk.tokens.ids.empty() || size() + static_cast<std::size_t>(padded.length) <= most_tokens))
      add_row(chunk, padded, row++, model.limits().positions, reads_first);
    const std::vector<Tensor> outputs = program.run(chunk.tokens, chunk.options, options);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool per_token = program.is_per_token(i);
      scatter(outputs[i], per_token, chunk, first_row, results.find(program.outputs()[i].name)->second,
              per_token ? padded.batch * padded.length : padded.batch);
    }
  }
  return results;
}

std::vector<std::vector<std::int32_t>> visible_rows(const NamedTensors& inputs, const models::EncoderLimits& limits) {
  const Padded padded = read_inputs(inputs, limits);
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(padded.batch));
  for (std::size_t i = 0; i < padded.ids.size(); ++i) {
    if (padded.mask[i] != 0) rows[i / static_cast<std::size_t>(padded.length)].push_back(narrow(padded.ids[i]));
  }
  return rows;
}

std::vector<ForwardOutput> packed_forward_outputs(const EntryPoint& entry_point) {
  std::vector<ForwardOutput> outputs;
  for (std::size_t i = 0; i < entry_point.outputs().size(); ++i) {
    const backends::Port& port = entry_point.outputs()[i];
    ForwardOutput& output = outputs.emplace_back(ForwardOutput{port.name, entry_point.is_per_token(i), {}});
    for (std::size_t axis = 1; axis < port.shape.rank(); ++axis)
      output.extents.push_back(port.shape.dims[axis].number());
  }
  return outputs;
}

}  // namespace alate::runtime
