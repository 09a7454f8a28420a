// Texts as rows of an entry point, with what is done with texts that are too long.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "alate/long_texts.h"
#include "alate/tokenizer.h"
#include "base/threads/cancellation.h"
#include "pipelines/calls/call_limits.h"
#include "pipelines/calls/prepared_rows.h"
#include "pipelines/calls/text_model.h"

namespace alate::pipelines {

/// What is kept of the encoding of each row: for the answer.
enum class RowDetails { none, ids, offsets };

/// What a task wants of its rows.
struct RowOptions {
  LongTextOptions long_texts = {};
  LongTexts usual = LongTexts::cut;                 // where the caller chooses no treatment
  Truncation strategy = Truncation::longest_first;  // which text of a pair is cut
  // Of windows, where the caller chooses none and they have room for more. Absent: a quarter of the room for the text.
  std::optional<std::size_t> usual_stride = {};
  std::optional<Side> side = {};  // of a cut; absent: as the tokenizer's file says
  RowDetails details = RowDetails::none;
  TokenBudget* budget = nullptr;  // of the call; absent: CallLimits' for these rows

  LongTexts treatment() const { return long_texts.treatment.value_or(usual); }
};

struct TextRows {
  PreparedRows prepared;              // `truncated` has indices of inputs
  std::vector<std::size_t> inputs;    // the input that each row is read from, ascending
  std::vector<Encoding> encodings;    // of each row, with what RowDetails says only; empty if not asked for
  std::vector<std::size_t> too_long;  // indices of the inputs that have no row: LongTexts::error
};

/// Tokenizes the inputs, in parallel on the shared pool: a row each, or a row for each window. Throws invalid_argument
/// for options that the model cannot meet, resource_exhausted for too many tokens, as Tokenizer::encode, and cancelled.
TextRows make_text_rows(const TextModel& model, std::span<const EncodeInput> inputs, const RowOptions& options,
                        const base::Cancellation& cancellation);

/// The most tokens of a row. Throws invalid_argument as row_limit.
std::size_t row_length(const TextModel& model, const LongTextOptions& options);
/// What a message says of a text that is too long, after its name.
std::string excess_of(const TextModel& model, const LongTextOptions& options);

}  // namespace alate::pipelines
