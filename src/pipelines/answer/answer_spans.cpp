#include "pipelines/answer/answer_spans.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "alate/error.h"
#include "base/sha256.h"
#include "pipelines/calls/whole_characters.h"
#include "pipelines/classify/score_function.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/unicode/canonical_text.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

// The most different answers of a text that are kept while its windows are read.
constexpr std::size_t kMostKept = std::size_t{1} << 16;

// Tokens `first` to `last` of a window.
struct Span {
  std::size_t first = 0, last = 0;
  float score = 0;

  bool operator<(const Span& other) const {
    if (score != other.score) return score < other.score;
    return std::pair(first, last) > std::pair(other.first, other.last);
  }
};

bool is_of_text(const Encoding& encoding, std::size_t token, const QuestionOrder& order) {
  return encoding.sequence_ids[token] == order.text_sequence();
}

// Over the tokens that an answer may have, and the one that stands for no answer.
std::vector<float> probabilities(std::span<const float> logits, const Encoding& encoding, const QuestionOrder& order) {
  constexpr float kExcluded = -10000;  // not infinite: where nothing else is there, all tokens are equally likely
  std::vector<float> made(logits.begin(), logits.end());
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!is_of_text(encoding, i, order) && encoding.ids[i] != order.cls_id) made[i] = kExcluded;
  }
  scale_logits(ScoreFunction::softmax, made);
  return made;
}

// A min-heap of the `count` best spans, best first when it is done.
class BestSpans {
 public:
  explicit BestSpans(std::size_t count) : count_(count) {}

  void offer(const Span& span) {
    if (spans_.size() == count_ && !(spans_.front() < span)) return;
    if (spans_.size() == count_) {
      std::ranges::pop_heap(spans_, kBetter);
      spans_.pop_back();
    }
    spans_.push_back(span);
    std::ranges::push_heap(spans_, kBetter);
  }
  std::vector<Span> take() {
    std::ranges::sort(spans_, kBetter);
    return std::move(spans_);
  }

 private:
  static constexpr auto kBetter = [](const Span& a, const Span& b) { return b < a; };

  std::size_t count_;
  std::vector<Span> spans_;
};

std::vector<Span> best_spans(const Encoding& encoding, std::span<const float> first, std::span<const float> last,
                             const QuestionOrder& order, const AnswerOptions& options) {
  // Spans of the same words are joined afterwards.
  BestSpans best(options.align_to_words ? 2 * options.top_k + 10 : options.top_k);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!is_of_text(encoding, i, order) || !(first[i] > 0)) continue;
    const std::size_t end = i + std::min(options.max_answer_length, last.size() - i);
    for (std::size_t k = i; k < end; ++k) {
      const float score = first[i] * last[k];
      if (is_of_text(encoding, k, order) && score > 0) best.offer({i, k, score});
    }
  }
  return best.take();
}

// The first or last token of the word that a token is a part of, within the window.
std::size_t end_of_word(const Encoding& encoding, std::size_t token, std::ptrdiff_t step) {
  const auto is_same_word = [&](std::size_t other) {
    return other < encoding.ids.size() && encoding.word_ids[other] == encoding.word_ids[token] &&
           encoding.sequence_ids[other] == encoding.sequence_ids[token];
  };
  std::size_t end = token;
  while (is_same_word(end + static_cast<std::size_t>(step))) end += static_cast<std::size_t>(step);
  return end;
}

// Without its text.
Answer answer_at(std::string_view text, const tokenizers::GraphemeClusters& clusters, const Encoding& encoding,
                 const Span& span, bool align_to_words) {
  std::size_t first = span.first, last = span.last;
  if (align_to_words && encoding.word_ids[first] != Encoding::kNone && encoding.word_ids[last] != Encoding::kNone) {
    first = end_of_word(encoding, first, -1);
    last = end_of_word(encoding, last, 1);
  }
  Answer answer{.text = {}, .start = encoding.offsets[first].first, .score = span.score};
  answer.end = std::max<std::size_t>(answer.start, encoding.offsets[last].second);
  answer.byte_start = std::min<std::size_t>(encoding.byte_offsets[first].first, text.size());
  answer.byte_end = std::clamp<std::size_t>(encoding.byte_offsets[last].second, answer.byte_start, text.size());
  if (answer.byte_start < answer.byte_end) widen_to_characters(text, clusters, answer);
  return answer;
}

std::string_view words_of(std::string_view text, const Answer& answer) {
  return text.substr(answer.byte_start, answer.byte_end - answer.byte_start);
}

// What is the same for answers of the same words, in any case and with letters composed or not. That of a long one is
// short, and longer than any of a short one.
std::string key_of(std::string_view words) {
  constexpr std::size_t kMostWhole = 64;
  std::string lower = tokenizers::canonical_form(tokenizers::chat_templates::lower_text(words));
  return lower.size() <= kMostWhole ? lower : '#' + base::Sha256().add(std::as_bytes(std::span(lower))).finish();
}

}  // namespace

void ComparedBytes::add(std::size_t answer_bytes) {
  constexpr std::size_t kLong = 1024, kMost = std::size_t{4} << 30;
  if (answer_bytes <= kLong) return;
  taken_ += answer_bytes;
  if (taken_ > kMost)
    throw make_error(ErrorCode::resource_exhausted, "the parts of the texts that may be answers have more than ", kMost,
                     " bytes: ask for fewer answers (top_k) or shorter ones (max_answer_length), or send fewer or ",
                     "shorter texts");
}

// Answers of the same words are one: its place is that of the first, and the scores are added up.
void TextAnswers::join(Answer answer) {
  const std::string_view words = words_of(text_, answer);
  compared_.add(words.size());
  const auto [found, is_new] = places_.emplace(key_of(words), answers_.size());
  if (is_new) {
    answers_.push_back(std::move(answer));
  } else {
    answers_[found->second].score += answer.score;
  }
}

// Forgets the worse half of too many.
void TextAnswers::prune() {
  if (answers_.size() <= kMostKept) return;
  std::vector<Answer> kept = best(kMostKept / 2);
  answers_.clear();
  places_.clear();
  for (Answer& answer : kept) join(std::move(answer));
}

std::vector<Answer> TextAnswers::best(std::size_t count) {
  std::ranges::stable_sort(answers_, std::ranges::greater(), &Answer::score);
  if (answers_.size() > count) answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(count), answers_.end());
  return std::move(answers_);
}

void TextAnswers::add(const AnswerWindow& window) {
  std::vector<float> first = probabilities(window.first, window.encoding, order_),
                     last = probabilities(window.last, window.encoding, order_);
  if (!none_) none_ = 1;
  if (first.empty()) return;
  none_ = std::min(*none_, first[0] * last[0]);
  first[0] = last[0] = 0;
  for (const Span& span : best_spans(window.encoding, first, last, order_, options_))
    join(answer_at(text_, clusters_, window.encoding, span, options_.align_to_words));
  prune();
}

std::vector<Answer> TextAnswers::take(AnswerBudget& budget) {
  if (options_.no_answer && none_) answers_.push_back({.text = {}, .score = *none_});
  std::vector<Answer> answers = best(options_.top_k);
  for (Answer& answer : answers) {
    const std::string_view words = words_of(text_, answer);
    budget.add(words.size());
    answer.text = words;
  }
  return answers;
}

std::vector<Answer> answers_of(std::string_view text, std::span<const AnswerWindow> windows, const QuestionOrder& order,
                               const AnswerOptions& options) {
  const std::optional<std::string> repaired = tokenizers::repair_utf8(text);
  ComparedBytes compared;
  TextAnswers answers(repaired ? std::string_view(*repaired) : text, order, options, compared);
  for (const AnswerWindow& window : windows) answers.add(window);
  AnswerBudget budget;
  return answers.take(budget);
}

}  // namespace alate::pipelines
