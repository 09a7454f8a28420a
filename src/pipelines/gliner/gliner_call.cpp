#include "pipelines/gliner/gliner_call.h"

#include <string>

#include "pipelines/gliner/span_choice.h"
#include "pipelines/whole_characters.h"

namespace alate::pipelines {
namespace {

// The package gliner ends words before the marks of letters that are not composed; entities have them.
Entity entity_of(const WordText& text, std::string_view whole, const tokenizers::GraphemeClusters& clusters,
                 const ScoredSpan& span, const std::string& label) {
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
  entity.word = entity.text = whole.substr(entity.byte_start, entity.byte_end - entity.byte_start);
  return entity;
}

}  // namespace

TextRows GlinerCall::make_rows(std::span<const std::string_view> texts, const RecognizeOptions& options,
                               const base::Cancellation& cancellation) {
  prompt_ = make_prompt(model_, gliner_, options.labels, row_length(model_, options.long_texts), cancellation);
  const WordPrompt around{.ids = prompt_.ids, .after = gliner_.frame.after, .labels = prompt_.label_places};
  const WordRules rules{.pools_last = gliner_.config.pools_last,
                        .most_words = static_cast<std::size_t>(gliner_.config.max_words),
                        .scores_of_pair = static_cast<std::size_t>(gliner_.config.scores_of_pair()),
                        .period = {}};
  WordRows made = make_word_rows(model_, around, rules, texts, options.long_texts, cancellation);
  texts_ = std::move(made.texts);
  first_words_ = std::move(made.first_words);
  row_words_ = std::move(made.word_counts);
  return std::move(made.rows);
}

std::vector<std::vector<Entity>> GlinerCall::entities(const RowResults& results,
                                                      std::span<const std::string_view> texts,
                                                      const RecognizeOptions& options) const {
  std::vector<std::vector<Entity>> entities(texts.size());
  const SpanRules rules{.nested = options.nested, .multi_label = options.multi_label};
  for (std::size_t begin = 0, end = 0; begin < results.count(); begin = end) {
    const std::size_t input = results.input(begin);
    std::vector<ScoredSpan> spans;
    for (; end < results.count() && results.input(end) == input; ++end)
      append_spans(gliner_.config, results.of(end), row_words_[end], prompt_.labels.size(), first_words_[end],
                   options.threshold.value_or(kUsualThreshold), spans);
    const WordText& text = texts_[input];
    const std::string_view whole = text.repaired.empty() ? texts[input] : std::string_view(text.repaired);
    const tokenizers::GraphemeClusters clusters(whole);
    for (const ScoredSpan& span : choose_spans(std::move(spans), rules))
      entities[input].push_back(entity_of(text, whole, clusters, span, prompt_.labels[span.label]));
  }
  return entities;
}

}  // namespace alate::pipelines
