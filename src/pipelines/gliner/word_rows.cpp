#include "pipelines/gliner/word_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/threads/thread_pool.h"
#include "models/inputs/word_inputs.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

using Ids = std::vector<std::int32_t>;

struct Window {
  std::size_t begin = 0, end = 0;  // words
};

struct Limits {
  std::size_t tokens = 0, words = 0;  // of a window
  std::size_t around = 0;             // tokens of its row besides
  std::optional<std::size_t> stride;
};

// A text's words with the tokens of each.
struct TokenizedText {
  WordText text;
  Ids ids;
  std::vector<std::size_t> ends;  // in `ids`, of each word's tokens
  std::vector<Window> windows;
  bool truncated = false, too_long = false;

  std::size_t count() const { return ends.size(); }
  std::span<const std::int32_t> of(std::size_t word) const {
    const std::size_t begin = word == 0 ? 0 : ends[word - 1];
    return std::span(ids).subspan(begin, ends[word] - begin);
  }
};

class Windows {
 public:
  Windows(const TokenizedText& text, const Limits& limits, TokenBudget& budget)
      : text_(text), limits_(limits), budget_(budget) {}

  // As many words from `begin` on as fit, one at least.
  Window from(std::size_t begin) const {
    std::size_t end = begin, tokens = 0;
    while (end < text_.count() && end - begin < limits_.words && tokens + size(end) <= limits_.tokens)
      tokens += size(end++);
    return {begin, std::max(end, begin + 1)};
  }
  Window to(std::size_t end) const {
    std::size_t begin = end, tokens = 0;
    while (begin > 0 && end - begin < limits_.words && tokens + size(begin - 1) <= limits_.tokens)
      tokens += size(--begin);
    return {std::min(begin, end - 1), end};
  }
  std::vector<Window> all() const {
    std::vector<Window> windows = {from(0)};
    while (windows.back().end < text_.count()) {
      const Window next = from(next_begin(windows.back()));
      budget_.take(limits_.around + tokens_of(next));
      windows.push_back(next);
    }
    return windows;
  }

 private:
  std::size_t size(std::size_t word) const { return text_.of(word).size(); }
  std::size_t tokens_of(const Window& window) const {
    return text_.ends[window.end - 1] - (window.begin == 0 ? 0 : text_.ends[window.begin - 1]);
  }
  std::size_t next_begin(const Window& window) const {
    std::size_t shared = 0;
    const std::size_t stride = limits_.stride.value_or(tokens_of(window) / 4);
    std::size_t begin = window.end;
    while (begin > window.begin + 1 && shared + size(begin - 1) <= stride) shared += size(--begin);
    return begin;
  }

  const TokenizedText& text_;
  const Limits& limits_;
  TokenBudget& budget_;
};

TokenizedText tokenized(const TextModel& model, std::string_view text, const WordRules& rules, std::size_t most_tokens,
                        const base::Cancellation& cancellation) {
  TokenizedText made;
  if (std::optional<std::string> repaired = tokenizers::repair_utf8(text))
    text = made.text.repaired = *std::move(repaired);
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  std::string lowered;
  for (const TextWord& word : rules.split(text)) {
    cancellation.check();
    std::string_view part = text.substr(word.byte_begin, word.byte_end - word.byte_begin);
    if (rules.lowers) part = lowered = tokenizers::chat_templates::lower_text(part);
    Ids ids = tokenizers::encode(model.tokenizer, part, alone, cancellation).ids;
    if (ids.empty()) continue;
    if (ids.size() > most_tokens) ids.resize(most_tokens);  // the rest of a word that fills a row by itself
    made.text.words.push_back(word);
    made.ids.insert(made.ids.end(), ids.begin(), ids.end());
    made.ends.push_back(made.ids.size());
  }
  return made;
}

void choose_windows(TokenizedText& text, const Limits& limits, LongTexts treatment, bool with_empty,
                    TokenBudget& budget) {
  budget.take(limits.around + std::min(text.ids.size(), limits.tokens));
  if (text.count() == 0) {
    if (with_empty) text.windows = {Window()};
    return;
  }
  const Windows windows(text, limits, budget);
  const Window first = windows.from(0);
  if (first.end == text.count() || treatment == LongTexts::cut) {
    text.windows = {first};
    text.truncated = first.end < text.count();
    return;
  }
  text.too_long = treatment == LongTexts::error;
  text.truncated = treatment == LongTexts::cut_left;
  if (treatment == LongTexts::cut_left) text.windows = {windows.to(text.count())};
  if (treatment == LongTexts::windows) text.windows = windows.all();
}

bool ends_sentence(std::string_view text) { return text.ends_with('.') || text.ends_with('!') || text.ends_with('?'); }

// A whole text is asked for its own end, spaces included; a window for that of its last word.
bool ends_sentence(const TokenizedText& made, const Window& window, std::string_view given) {
  const std::string_view text = made.text.repaired.empty() ? given : std::string_view(made.text.repaired);
  if (window.begin == 0 && window.end == made.count()) return ends_sentence(text);
  return ends_sentence(text.substr(0, made.text.words[window.end - 1].byte_end));
}

runtime::BatchRow row_of(const TokenizedText& text, const Window& window, std::string_view given,
                         const WordPrompt& prompt, const WordRules& rules) {
  runtime::BatchRow row{.ids = prompt.ids};
  models::RowWords words{
      .words = prompt.words, .labels = prompt.labels, .groups = prompt.groups, .marks = prompt.marks};
  const auto add = [&](std::span<const std::int32_t> ids) {
    words.words.push_back(static_cast<std::int32_t>(row.ids.size() + (rules.pools_last ? ids.size() - 1 : 0)));
    row.ids.insert(row.ids.end(), ids.begin(), ids.end());
  };
  for (std::size_t word = window.begin; word < window.end; ++word) add(text.of(word));
  if (!rules.period.empty() && !ends_sentence(text, window, given)) add(rules.period);
  row.ids.insert(row.ids.end(), prompt.after.begin(), prompt.after.end());
  row.parts = words.parts();
  row.parts_size = words.size();
  return row;
}

}  // namespace

WordRows make_word_rows(const TextModel& model, const WordPrompt& prompt, const WordRules& rules,
                        std::span<const std::string_view> texts, const LongTextOptions& long_texts, TokenBudget& budget,
                        const base::Cancellation& cancellation) {
  const std::size_t taken = prompt.ids.size() + prompt.after.size() + rules.period.size();
  const std::size_t length = row_length(model, long_texts);
  if (length <= taken)
    throw make_error(ErrorCode::invalid_argument, "the ", length,
                     " tokens of a row are less than the prompt takes: ", taken);
  const Limits limits{
      .tokens = length - taken, .words = rules.most_words, .around = taken, .stride = long_texts.stride};
  if (limits.stride && *limits.stride >= limits.tokens)
    throw make_error(ErrorCode::invalid_argument, "the stride of ", *limits.stride, " tokens is not below the ",
                     limits.tokens, " that a window has of the text");
  const LongTexts treatment = long_texts.treatment.value_or(LongTexts::windows);
  std::vector<TokenizedText> made(texts.size());
  base::ThreadPool::shared().parallel_for(texts.size(), model.model.state().options.threads,
                                          [&](std::size_t i, std::size_t) {
                                            made[i] = tokenized(model, texts[i], rules, limits.tokens, cancellation);
                                            choose_windows(made[i], limits, treatment, !rules.period.empty(), budget);
                                          });
  WordRows all;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].truncated) all.rows.prepared.truncated.push_back(i);
    if (made[i].too_long) all.rows.too_long.push_back(i);
    for (const Window& window : made[i].windows) {
      all.rows.prepared.rows.push_back(row_of(made[i], window, texts[i], prompt, rules));
      all.rows.inputs.push_back(i);
      all.first_words.push_back(window.begin);
      all.word_counts.push_back(window.end - window.begin);
    }
    all.texts.push_back(std::move(made[i].text));
  }
  return all;
}

}  // namespace alate::pipelines
