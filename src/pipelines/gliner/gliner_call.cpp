#include "pipelines/gliner/gliner_call.h"

#include <string>
#include <utility>

#include "pipelines/calls/whole_characters.h"
#include "pipelines/gliner/span_choice.h"

namespace alate::pipelines {
namespace {

// The package gliner ends words before the marks of letters that are not composed; entities have them.
Entity entity_of(const WordText& text, std::string_view whole, const tokenizers::GraphemeClusters& clusters,
                 const ScoredSpan& span, const std::string& label, AnswerBudget& budget) {
  const TextWord &first = text.words[span.first], &last = text.words[span.last];
  Entity entity{.text = {},
                .label = label,
                .start = first.begin,
                .end = last.end,
                .byte_start = first.byte_begin,
                .byte_end = last.byte_end,
                .score = span.score,
                .word = {},
                .token = std::nullopt};
  widen_to_characters(whole, clusters, entity);
  budget.add(label.size() + 2 * (entity.byte_end - entity.byte_start));
  entity.word = entity.text = whole.substr(entity.byte_start, entity.byte_end - entity.byte_start);
  return entity;
}

}  // namespace

TextRows GlinerCall::make_rows(std::span<const std::string_view> texts, const RecognizeOptions& options,
                               TokenBudget& budget, const base::Cancellation& cancellation) {
  if (prompt_.ids.empty())
    prompt_ = make_prompt(model_, gliner_, options.labels, row_length(model_, options.long_texts), cancellation);
  const WordPrompt around{.ids = prompt_.ids, .after = gliner_.frame.after, .labels = prompt_.label_places};
  const WordRules rules{.pools_last = gliner_.config.pools_last,
                        .most_words = static_cast<std::size_t>(gliner_.config.max_words),
                        .period = {}};
  WordRows made = make_word_rows(model_, around, rules, texts, options.long_texts, budget, cancellation);
  texts_ = std::move(made.texts);
  first_words_ = std::move(made.first_words);
  row_words_ = std::move(made.word_counts);
  return std::move(made.rows);
}

void GlinerCall::take(const RowResults& results, std::span<const std::string_view> texts,
                      const RecognizeOptions& options, AnswerBudget& budget,
                      std::vector<std::vector<Entity>>& entities) {
  const SpanRules rules{.nested = options.nested, .multi_label = options.multi_label};
  for_each_input(results, [&](const InputRange& range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const std::size_t row = results.first_row() + i;
      append_spans(gliner_.config, results.of(i), row_words_[row], prompt_.labels.size(), first_words_[row],
                   options.threshold.value_or(kUsualThreshold), results.cancellation(), spans_);
    }
    if (!range.is_last) return;
    const WordText& text = texts_[range.input - results.first_text()];
    const std::string_view whole = text.repaired.empty() ? texts[range.input] : std::string_view(text.repaired);
    const tokenizers::GraphemeClusters clusters(whole);
    for (const ScoredSpan& span : choose_spans(std::exchange(spans_, {}), rules, results.cancellation()))
      entities[range.input].push_back(entity_of(text, whole, clusters, span, prompt_.labels[span.label], budget));
  });
}

}  // namespace alate::pipelines
