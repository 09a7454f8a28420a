#include "pipelines/calls/text_rows.h"

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

// Types and the mask, which is 1 everywhere, are not for answers.
Encoding kept_of(Encoding encoding, RowDetails details) {
  if (details == RowDetails::ids) {
    Encoding ids;
    ids.ids = std::move(encoding.ids);
    return ids;
  }
  encoding.type_ids = {};
  encoding.attention_mask = {};
  return encoding;
}

// Ids stay in an encoding that is kept.
runtime::BatchRow row_of(Encoding& encoding, bool has_types, bool is_kept) {
  runtime::BatchRow row{.ids = is_kept ? encoding.ids : std::move(encoding.ids)};
  // transformers' tokenizers give no types to models that have one.
  if (has_types) row.type_ids = std::move(encoding.type_ids);
  return row;
}

InputRows rows_of_input(Encoding encoding, LongTexts treatment, bool has_types, RowDetails details) {
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
  const bool is_kept = details != RowDetails::none;
  made.rows.reserve(windows.size());
  for (Encoding& window : windows) {
    made.rows.push_back(row_of(window, has_types, is_kept));
    if (is_kept) made.encodings.push_back(kept_of(std::exchange(window, {}), details));
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
  encode.with_offsets = options.details == RowDetails::offsets;
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
// more.
constexpr std::size_t kMostRepeats = 8, kAnyTokens = std::size_t{1} << 20;

std::size_t cut_bytes(const EncodeInput& input, const RowOptions& options) {
  return input.pair && options.strategy != Truncation::only_first ? input.pair->size() : input.text.size();
}

// Bytes stand for tokens, which are not counted yet.
void require_few_windows(const TextModel& model, const EncodeInput& input, const EncodeOptions& encode,
                         const RowOptions& options, const base::Cancellation& cancellation) {
  const std::size_t length = *encode.max_length, bytes = cut_bytes(input, options);
  if (bytes <= kAnyTokens / length) return;
  const std::size_t room = room_of(model, input, encode, cancellation), stride = stride_of(options, room);
  if (stride >= room || bytes / (room - stride) <= std::max(kMostRepeats * bytes, kAnyTokens) / length) return;
  throw make_error(ErrorCode::resource_exhausted, "windows of ", length, " tokens with ", room - stride,
                   " new ones each would be too many for a text of ", bytes,
                   " bytes; take a smaller stride or a shorter question");
}

// The tokens of all windows of a text, which `encoding` has in windows that share none.
std::size_t window_tokens(const Encoding& encoding, std::size_t length, std::size_t room, std::size_t stride) {
  if (stride >= room) return length;
  const auto own = [&](const Encoding& window) {
    return window.ids.size() - std::min(window.ids.size(), length - room);
  };
  std::size_t tokens = own(encoding);
  for (const Encoding& window : encoding.overflowing) tokens += own(window);
  return window_count(tokens, room, stride) * length;
}

// What the rows of a call, or of a part of it, may have.
struct RowBudgets {
  TokenBudget& call;
  TokenBudget windows;  // that share tokens, of all of these texts
};

Encoding encode_input(const TextModel& model, const EncodeInput& input, EncodeOptions encode, const RowOptions& options,
                      RowBudgets& budgets, const base::Cancellation& cancellation) {
  const bool has_windows = options.treatment() == LongTexts::windows;
  if (has_windows) require_few_windows(model, input, encode, options, cancellation);
  Encoding encoding = tokenizers::encode(model.tokenizer, input, encode, cancellation);
  const std::size_t room = encoding.truncated && has_windows ? room_of(model, input, encode, cancellation) : 0;
  encode.stride = room > 0 ? stride_of(options, room) : 0;
  if (encode.stride == 0) {
    budgets.call.take(encoding.ids.size() * (has_windows ? encoding.overflowing.size() + 1 : 1));
    return encoding;
  }
  const std::size_t tokens = window_tokens(encoding, *encode.max_length, room, encode.stride);
  budgets.call.take(tokens);
  budgets.windows.take(tokens);
  encoding = {};
  return tokenizers::encode(model.tokenizer, input, encode, cancellation);
}

}  // namespace

TextRows make_text_rows(const TextModel& model, std::span<const EncodeInput> inputs, const RowOptions& options,
                        const base::Cancellation& cancellation) {
  const Model::State& state = model.model.state();
  const bool has_types = state.limits().types > 1 && model.tokenizer.gives_type_ids();
  const EncodeOptions encode = encode_options(model, options);
  std::size_t bytes = 0;
  for (const EncodeInput& input : inputs) bytes += cut_bytes(input, options);
  TokenBudget own;
  RowBudgets budgets{.call = options.budget != nullptr ? *options.budget : own,
                     .windows = TokenBudget(kMostRepeats * bytes + kAnyTokens)};
  std::vector<InputRows> made(inputs.size());
  base::ThreadPool::shared().parallel_for(inputs.size(), state.options.threads, [&](std::size_t i, std::size_t) {
    cancellation.check();
    made[i] = rows_of_input(encode_input(model, inputs[i], encode, options, budgets, cancellation), options.treatment(),
                            has_types, options.details);
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
