#include "pipelines/text_rows.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "base/threads/thread_pool.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/encode.h"

namespace alate::pipelines {
namespace {

// All rows of one input.
struct InputRows {
  std::vector<runtime::BatchRow> rows;
  std::vector<Encoding> encodings;
  bool truncated = false, too_long = false;
};

// Ids stay in an encoding that is kept.
runtime::BatchRow row_of(Encoding& encoding, bool has_types, bool is_kept) {
  runtime::BatchRow row{.ids = is_kept ? encoding.ids : std::move(encoding.ids)};
  // transformers' tokenizers give no types to models that have one.
  if (has_types) row.type_ids = std::move(encoding.type_ids);
  return row;
}

InputRows rows_of_input(Encoding encoding, LongTexts treatment, bool has_types, bool keeps_encodings) {
  InputRows made;
  if (encoding.truncated && treatment == LongTexts::error) {
    made.too_long = true;
    return made;
  }
  std::vector<Encoding> windows = std::move(encoding.overflowing);
  windows.insert(windows.begin(), std::move(encoding));
  if (treatment != LongTexts::windows) {
    made.truncated = windows.front().truncated;
    windows.resize(1);
  }
  for (Encoding& window : windows) {
    made.rows.push_back(row_of(window, has_types, keeps_encodings));
    if (keeps_encodings) made.encodings.push_back(std::move(window));
  }
  return made;
}

EncodeOptions encode_options(const TextModel& model, const RowOptions& options) {
  EncodeOptions encode;
  encode.max_length = row_length(model, options.long_texts);
  encode.strategy = options.strategy;
  encode.side = options.side;
  if (options.long_texts.treatment == LongTexts::cut) encode.side = Side::right;
  if (options.treatment() == LongTexts::cut_left) encode.side = Side::left;
  if (options.treatment() == LongTexts::windows) encode.side = Side::right;
  encode.with_offsets = options.with_offsets;
  encode.with_tokens = false;
  encode.with_windows = options.treatment() == LongTexts::windows;
  return encode;
}

// Tokens of the text that is cut, in a row of `length`.
std::size_t room_of(const TextModel& model, const EncodeInput& input, const EncodeOptions& options,
                    const base::Cancellation& cancellation) {
  std::size_t taken = model.tokenizer.special_tokens_added(input.pair.has_value());
  if (input.pair) {
    const std::string_view whole = options.strategy == Truncation::only_second ? input.text : *input.pair;
    const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
    taken += tokenizers::encode(model.tokenizer, whole, alone, cancellation).ids.size();
  }
  return *options.max_length - std::min(*options.max_length, taken);
}

// What windows with `room` tokens of the text share.
std::size_t stride_of(const RowOptions& options, std::size_t room) {
  if (options.long_texts.stride) return *options.long_texts.stride;
  return options.usual_stride && *options.usual_stride < room ? *options.usual_stride : room / 4;
}

// Windows with little room, or that share nearly all of it, repeat a text very often: up to 8 times, and short ones
// more. Bytes stand for tokens, which are not counted yet.
void require_few_windows(const TextModel& model, const EncodeInput& input, const EncodeOptions& encode,
                         const RowOptions& options, const base::Cancellation& cancellation) {
  constexpr std::size_t kMostRepeats = 8, kAnyTokens = std::size_t{1} << 20;
  const std::size_t length = *encode.max_length;
  const std::size_t bytes =
      input.pair && options.strategy != Truncation::only_first ? input.pair->size() : input.text.size();
  if (bytes <= kAnyTokens / length) return;
  const std::size_t room = room_of(model, input, encode, cancellation), stride = stride_of(options, room);
  if (stride >= room || bytes / (room - stride) <= std::max(kMostRepeats * bytes, kAnyTokens) / length) return;
  throw make_error(ErrorCode::resource_exhausted, "windows of ", length, " tokens with ", room - stride,
                   " new ones each would be too many for a text of ", bytes,
                   " bytes; take a smaller stride or a shorter question");
}

Encoding encode_input(const TextModel& model, const EncodeInput& input, EncodeOptions encode, const RowOptions& options,
                      const base::Cancellation& cancellation) {
  const bool has_windows = options.treatment() == LongTexts::windows;
  if (has_windows) require_few_windows(model, input, encode, options, cancellation);
  Encoding encoding = tokenizers::encode(model.tokenizer, input, encode, cancellation);
  if (!encoding.truncated || !has_windows) return encoding;
  encode.stride = stride_of(options, room_of(model, input, encode, cancellation));
  if (encode.stride == 0) return encoding;
  return tokenizers::encode(model.tokenizer, input, encode, cancellation);
}

}  // namespace

TextRows make_text_rows(const TextModel& model, std::span<const EncodeInput> inputs, const RowOptions& options,
                        const base::Cancellation& cancellation) {
  const Model::State& state = model.model.state();
  const bool has_types = state.limits().types > 1 && model.tokenizer.gives_type_ids();
  const EncodeOptions encode = encode_options(model, options);
  std::vector<InputRows> made(inputs.size());
  base::ThreadPool::shared().parallel_for(inputs.size(), state.options.threads, [&](std::size_t i, std::size_t) {
    cancellation.check();
    made[i] = rows_of_input(encode_input(model, inputs[i], encode, options, cancellation), options.treatment(),
                            has_types, options.with_offsets);
  });
  TextRows all;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].truncated) all.prepared.truncated.push_back(i);
    if (made[i].too_long) all.too_long.push_back(i);
    all.inputs.insert(all.inputs.end(), made[i].rows.size(), i);
    std::ranges::move(made[i].rows, std::back_inserter(all.prepared.rows));
    std::ranges::move(made[i].encodings, std::back_inserter(all.encodings));
  }
  return all;
}

std::size_t row_length(const TextModel& model, const LongTextOptions& options) {
  return row_limit(options.max_length, model.max_length, model.model.facts().max_positions);
}

std::string excess_of(const TextModel& model, const LongTextOptions& options) {
  return " has more than the " + std::to_string(row_length(model, options)) + " tokens that are read at once";
}

}  // namespace alate::pipelines
