#include "pipelines/gliner/span_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "alate/error.h"

namespace alate::pipelines {
namespace {

float sigmoid(float logit) { return static_cast<float>(1 / (1 + std::exp(-double{logit}))); }

void append(const ScoredSpan& span, std::vector<ScoredSpan>& spans) {
  if (spans.size() >= kMostSpans)
    throw make_error(ErrorCode::resource_exhausted, "a text has more than ", kMostSpans,
                     " places with a score above the threshold: ask for a higher one");
  spans.push_back(span);
}

// Logits [words, labels, count].
class PairLogits {
 public:
  PairLogits(std::span<const float> logits, std::size_t labels, std::size_t count)
      : logits_(logits), labels_(labels), count_(count) {}

  float score(std::size_t word, std::size_t label, std::size_t i) const {
    return sigmoid(logits_[(word * labels_ + label) * count_ + i]);
  }

 private:
  std::span<const float> logits_;
  std::size_t labels_, count_;
};

void append_wide_spans(const PairLogits& logits, std::size_t words, std::size_t labels, std::size_t widths,
                       std::size_t first_word, float threshold, const base::Cancellation& cancellation,
                       std::vector<ScoredSpan>& spans) {
  for (std::size_t word = 0; word < words; ++word) {
    cancellation.check();
    for (std::size_t width = 0; width < std::min(widths, words - word); ++width) {
      for (std::size_t label = 0; label < labels; ++label) {
        const float score = logits.score(word, label, width);
        if (score > threshold) append({first_word + word, first_word + word + width, label, score}, spans);
      }
    }
  }
}

// A span begins and ends with words that say so, and all of its words are inside; its score is the least of these.
void append_marked_spans(const PairLogits& logits, std::size_t words, std::size_t labels, std::size_t first_word,
                         float threshold, const base::Cancellation& cancellation, std::vector<ScoredSpan>& spans) {
  constexpr std::size_t kBegins = 0, kEnds = 1, kInside = 2;
  for (std::size_t word = 0; word < words; ++word) {
    for (std::size_t label = 0; label < labels; ++label) {
      float least = logits.score(word, label, kBegins);
      if (!(least > threshold)) continue;
      cancellation.check();
      for (std::size_t last = word; last < words; ++last) {
        const float inside = logits.score(last, label, kInside), end = logits.score(last, label, kEnds);
        if (!(inside >= threshold)) break;
        least = std::min(least, inside);
        if (end > threshold) append({first_word + word, first_word + last, label, std::min(least, end)}, spans);
      }
    }
  }
}

// The spans chosen so far, by their ends.
class ChosenSpans {
 public:
  ChosenSpans(std::size_t words, const SpanRules& rules)
      : rules_(rules), farthest_end_(words, kNone), first_begin_(words, words), taken_(words, false) {}

  bool allows(const ScoredSpan& span) const {
    if (same_.contains({span.first, span.last})) return rules_.multi_label;
    return rules_.nested ? !crosses_any(span) : !overlaps_any(span);
  }
  void add(const ScoredSpan& span) {
    same_.insert({span.first, span.last});
    std::size_t& end = farthest_end_[span.first];
    end = end == kNone ? span.last : std::max(end, span.last);
    first_begin_[span.last] = std::min(first_begin_[span.last], span.first);
    std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(span.first), span.last - span.first + 1, true);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  bool overlaps_any(const ScoredSpan& span) const {
    for (std::size_t word = span.first; word <= span.last; ++word) {
      if (taken_[word]) return true;
    }
    return false;
  }
  // Whether one begins inside and ends behind, or ends inside and begins before.
  bool crosses_any(const ScoredSpan& span) const {
    for (std::size_t word = span.first; word < span.last; ++word) {
      const std::size_t end = farthest_end_[word + 1];
      if (first_begin_[word] < span.first || (end != kNone && end > span.last)) return true;
    }
    return false;
  }

  const SpanRules& rules_;
  std::set<std::pair<std::size_t, std::size_t>> same_;
  std::vector<std::size_t> farthest_end_, first_begin_;  // of those that begin, and that end, with each word
  std::vector<bool> taken_;
};

// By place, then label; the higher of two scores of the same.
void sort_by_place(std::vector<ScoredSpan>& spans) {
  const auto place = [](const ScoredSpan& span) { return std::tuple(span.first, span.last, span.label); };
  const auto is_before = [&](const ScoredSpan& a, const ScoredSpan& b) {
    return std::tuple(place(a), -a.score) < std::tuple(place(b), -b.score);
  };
  std::ranges::sort(spans, is_before);
  const auto [end, last] = std::ranges::unique(spans, {}, place);
  spans.erase(end, last);
}

}  // namespace

void append_spans(const models::GlinerConfig& config, std::span<const float> logits, std::size_t words,
                  std::size_t labels, std::size_t first_word, float threshold, const base::Cancellation& cancellation,
                  std::vector<ScoredSpan>& spans) {
  const std::size_t count = logits.size() / (words * labels);
  const PairLogits scores(logits, labels, count);
  if (config.scores == models::GlinerScores::words)
    return append_marked_spans(scores, words, labels, first_word, threshold, cancellation, spans);
  append_wide_spans(scores, words, labels, count, first_word, threshold, cancellation, spans);
}

std::vector<ScoredSpan> choose_spans(std::vector<ScoredSpan> spans, const SpanRules& rules,
                                     const base::Cancellation& cancellation) {
  if (spans.empty()) return spans;
  sort_by_place(spans);
  const std::size_t words = std::ranges::max(spans, {}, &ScoredSpan::last).last + 1;
  std::ranges::stable_sort(spans, std::ranges::greater(), &ScoredSpan::score);
  ChosenSpans chosen(words, rules);
  std::vector<ScoredSpan> kept;
  for (const ScoredSpan& span : spans) {
    cancellation.check();
    if (!chosen.allows(span)) continue;
    chosen.add(span);
    kept.push_back(span);
  }
  std::ranges::stable_sort(kept, {}, &ScoredSpan::first);
  return kept;
}

}  // namespace alate::pipelines
