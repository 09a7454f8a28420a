#include "pipelines/extract/read_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "alate/error.h"
#include "pipelines/calls/whole_characters.h"
#include "pipelines/gliner/span_choice.h"

namespace alate::pipelines {
namespace {

constexpr auto kCounts = static_cast<std::size_t>(models::ExtractorConfig::kCounts);

float sigmoid_of(float x) { return 1 / (1 + std::exp(-x)); }

// Words of one text, the best score first; of the same score the first.
using FoundSpans = std::vector<ScoredSpan>;

// All numbers of a row.
class RowNumbers {
 public:
  RowNumbers(const ExtractScope& scope, const ExtractedRow& row)
      : row_(row),
        cancellation_(scope.cancellation),
        labels_(scope.prompt.around.labels.size()),
        prompt_words_(scope.prompt.around.words.size()),
        widths_(static_cast<std::size_t>(scope.config.max_width)) {}

  float choice_score(std::size_t word, std::size_t label, std::size_t instance) const {
    return sigmoid_of(logit(word, label, 0, instance));
  }

  // Those of words of the text that reach the threshold.
  FoundSpans spans_above(std::size_t label, std::size_t instance, float threshold) const {
    FoundSpans found;
    for (std::size_t word = 0; word < row_.words; ++word) {
      if (word % kWordsAtATime == 0) cancellation_.check();
      for (std::size_t width = 0; width < widths_; ++width) {
        // A span may end with the period that was added to the text, which is then left out.
        const std::size_t last = word + width;
        if (last > row_.words || (last == row_.words && !has_period())) break;
        const float score = sigmoid_of(logit(prompt_words_ + word, label, width, instance));
        if (!(score >= threshold)) continue;
        found.push_back({row_.first_word + word, row_.first_word + std::min(last, row_.words - 1), 0, score});
      }
    }
    return found;
  }

 private:
  float logit(std::size_t word, std::size_t label, std::size_t width, std::size_t instance) const {
    return row_.spans[((word * labels_ + label) * widths_ + width) * row_.instances + instance];
  }
  bool has_period() const {
    return row_.spans.size() > (prompt_words_ + row_.words) * labels_ * widths_ * row_.instances;
  }

  static constexpr std::size_t kWordsAtATime = 64;

  const ExtractedRow& row_;
  const base::Cancellation& cancellation_;
  const std::size_t labels_, prompt_words_, widths_;
};

// The best one, then the best of those that share no word with it, and so on; the best first.
FoundSpans apart(FoundSpans found) {
  std::ranges::stable_sort(found, std::ranges::greater(), &ScoredSpan::score);
  std::map<std::size_t, std::size_t> taken;  // the last word of each one that was kept, by its first
  FoundSpans kept;
  for (const ScoredSpan& span : found) {
    const auto after = taken.upper_bound(span.last);
    if (after != taken.begin() && std::prev(after)->second >= span.first) continue;
    taken.emplace(span.first, span.last);
    kept.push_back(span);
  }
  return kept;
}

class TextReader {
 public:
  TextReader(const ExtractScope& scope, const WordText& text, std::string_view given, std::span<const ReadRow> rows)
      : scope_(scope),
        text_(text),
        whole_(text.repaired.empty() ? given : std::string_view(text.repaired)),
        clusters_(whole_),
        readers_(rows) {}

  Extraction read() const {
    Extraction read;
    for (std::size_t i = 0; i < scope_.schema.structures.size(); ++i) read.structures.push_back(structure(i));
    if (!scope_.schema.entities.empty()) read_entities(read);
    for (std::size_t i = 0; i < scope_.schema.relations.size(); ++i) read.relations.push_back(relation(i));
    for (std::size_t i = 0; i < scope_.schema.classifications.size(); ++i)
      read.classifications.push_back(classification(i));
    return read;
  }

 private:
  float threshold_of(const std::optional<float>& own) const { return own.value_or(scope_.threshold); }

  // Texts are counted before they are copied: of the text, and of the schema, which each instance repeats.
  ExtractedValue value_of(const ScoredSpan& span) const {
    const TextWord &first = text_.words[span.first], &last = text_.words[span.last];
    ExtractedPlace place{first.begin, last.end, first.byte_begin, last.byte_end};
    widen_to_characters(whole_, clusters_, place);
    scope_.budget.add(place.byte_end - place.byte_start);
    return {.text = std::string(whole_.substr(place.byte_start, place.byte_end - place.byte_start)),
            .score = span.score,
            .place = place};
  }
  std::vector<ExtractedValue> values_of(FoundSpans found, bool is_list) const {
    std::vector<ExtractedValue> values;
    for (const ScoredSpan& span : apart(std::move(found))) {
      values.push_back(value_of(span));
      if (!is_list) break;
    }
    return values;
  }
  std::vector<ExtractedValue> chosen(const ExtractField& field, std::span<const float> scores) const {
    std::vector<ExtractedValue> values;
    for (std::size_t i = 0; i < field.choices.size(); ++i) {
      const float score = scores[i];
      if (!(score >= threshold_of(field.threshold))) continue;
      if (!field.is_list && !values.empty() && score <= values.front().score) continue;
      if (!field.is_list) values.clear();
      scope_.budget.add(field.choices[i].size());
      values.push_back({.text = field.choices[i], .score = score, .place = std::nullopt});
    }
    return values;
  }

  ExtractedStructure structure(std::size_t index) const {
    const ExtractStructure& wanted = scope_.schema.structures[index];
    const PromptTask& task = scope_.prompt.structures[index];
    ExtractedStructure made{.name = wanted.name, .is_counted = readers_.front().count_of(task) > 0, .instances = {}};
    std::map<std::string, std::size_t> seen;  // what an instance says: which it is
    for (const ReadRow& reader : readers_) {
      for (std::size_t instance = 0; instance < reader.count_of(task); ++instance) {
        std::vector<ExtractedField> fields;
        for (std::size_t i = 0; i < wanted.fields.size(); ++i) {
          const ExtractField& field = wanted.fields[i];
          const std::size_t label = task.first_label + i;
          fields.push_back({field.name, field.is_list,
                            field.choices.empty() ? values_of(reader.spans(label, instance), field.is_list)
                                                  : chosen(field, reader.choices(label, instance))});
        }
        if (std::ranges::all_of(fields, &std::vector<ExtractedValue>::empty, &ExtractedField::values)) continue;
        for (const ExtractedField& field : fields) scope_.budget.add(field.name.size());
        add_once(std::move(fields), seen, made.instances);
      }
    }
    return made;
  }

  // Windows overlap: of instances of several ones that say the same, the one with the best score stays. Those of one
  // window are as the model gives them.
  void add_once(std::vector<ExtractedField> fields, std::map<std::string, std::size_t>& seen,
                std::vector<std::vector<ExtractedField>>& instances) const {
    if (readers_.size() > 1) {
      const auto [found, is_new] = seen.try_emplace(key_of(fields), instances.size());
      if (!is_new) {
        if (best_of(fields) > best_of(instances[found->second])) instances[found->second] = std::move(fields);
        return;
      }
    }
    instances.push_back(std::move(fields));
  }
  static std::string key_of(const ExtractedValue& value) {
    if (!value.place) return "=" + std::to_string(value.text.size()) + value.text;
    return "@" + std::to_string(value.place->byte_start) + "-" + std::to_string(value.place->byte_end);
  }
  static std::string key_of(const std::vector<ExtractedField>& fields) {
    std::string key;
    for (const ExtractedField& field : fields) {
      key += ';';
      for (const ExtractedValue& value : field.values) key += key_of(value);
    }
    return key;
  }
  static float best_of(const std::vector<ExtractedField>& fields) {
    float best = 0;
    for (const ExtractedField& field : fields)
      for (const ExtractedValue& value : field.values) best = std::max(best, value.score);
    return best;
  }

  void read_entities(Extraction& read) const {
    const PromptTask& task = scope_.prompt.entities;
    const auto expects_some = [&](const ReadRow& reader) { return reader.count_of(task) > 0; };
    read.has_entities = true;
    if (std::ranges::none_of(readers_, expects_some)) return;
    for (std::size_t i = 0; i < scope_.schema.entities.size(); ++i) {
      const ExtractEntity& entity = scope_.schema.entities[i];
      FoundSpans found;
      for (const ReadRow& reader : readers_) {
        if (!expects_some(reader)) continue;
        const FoundSpans& more = reader.spans(task.first_label + i, 0);
        found.insert(found.end(), more.begin(), more.end());
      }
      scope_.budget.add(entity.name.size());
      read.entities.push_back({entity.name, entity.is_list, values_of(std::move(found), entity.is_list)});
    }
  }

  ExtractedRelation relation(std::size_t index) const {
    const ExtractRelation& wanted = scope_.schema.relations[index];
    const PromptTask& task = scope_.prompt.relations[index];
    ExtractedRelation made{.name = wanted.name, .pairs = {}};
    std::map<std::string, std::size_t> seen;
    for (const ReadRow& reader : readers_) {
      for (std::size_t instance = 0; instance < reader.count_of(task); ++instance) {
        std::vector<std::vector<ExtractedValue>> ends;
        for (const std::size_t end : {0, 1})
          ends.push_back(values_of(reader.spans(task.first_label + end, instance), false));
        if (ends[0].empty() || ends[1].empty()) continue;
        std::pair<ExtractedValue, ExtractedValue> pair = {ends[0].front(), ends[1].front()};
        if (readers_.size() > 1) {
          const auto [found, is_new] = seen.try_emplace(key_of(pair.first) + key_of(pair.second), made.pairs.size());
          if (!is_new) {
            const auto best = [](const auto& of) { return std::max(of.first.score, of.second.score); };
            if (best(pair) > best(made.pairs[found->second])) made.pairs[found->second] = std::move(pair);
            continue;
          }
        }
        made.pairs.push_back(std::move(pair));
      }
    }
    return made;
  }

  std::vector<float> label_scores(const ReadRow& reader, std::size_t index) const {
    const ExtractClassification& wanted = scope_.schema.classifications[index];
    std::vector<float> logits;
    for (std::size_t i = 0; i < wanted.labels.size(); ++i)
      logits.push_back(reader.label_logit(scope_.prompt.classifications[index].mark + 1 + i));
    const bool is_sigmoid = wanted.activation == ClassActivation::automatic
                                ? wanted.multi_label
                                : wanted.activation == ClassActivation::sigmoid;
    const float greatest = *std::ranges::max_element(logits);
    float sum = 0;
    for (const float logit : logits) sum += std::exp(logit - greatest);
    for (float& logit : logits) logit = is_sigmoid ? sigmoid_of(logit) : std::exp(logit - greatest) / sum;
    return logits;
  }

  // Of each label the best score of all windows decides.
  ExtractedClass classification(std::size_t index) const {
    const ExtractClassification& wanted = scope_.schema.classifications[index];
    std::vector<float> scores = label_scores(readers_.front(), index);
    for (const ReadRow& reader : readers_.subspan(1)) {
      const std::vector<float> others = label_scores(reader, index);
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = std::max(scores[i], others[i]);
    }
    ExtractedClass made{.task = wanted.task, .is_list = wanted.multi_label, .labels = {}};
    const auto add = [&](std::size_t label) {
      scope_.budget.add(wanted.labels[label].size());
      made.labels.push_back({.text = wanted.labels[label], .score = scores[label], .place = std::nullopt});
    };
    for (std::size_t i = 0; wanted.multi_label && i < scores.size(); ++i) {
      if (scores[i] >= wanted.threshold) add(i);
    }
    if (made.labels.empty()) add(static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin()));
    if (wanted.top_k) {
      std::ranges::stable_sort(made.labels, std::ranges::greater(), &ExtractedValue::score);
      made.labels.resize(std::min(made.labels.size(), *wanted.top_k));
    }
    return made;
  }

  const ExtractScope& scope_;
  const WordText& text_;
  const std::string_view whole_;
  const tokenizers::GraphemeClusters clusters_;
  const std::span<const ReadRow> readers_;
};

}  // namespace

ReadRow::ReadRow(const ExtractScope& scope, const ExtractedRow& row, std::size_t& spans)
    : marks_(row.marks.begin(), row.marks.end()) {
  const RowNumbers numbers(scope, row);
  const auto keep_spans = [&](std::size_t label, std::size_t instance, const std::optional<float>& threshold) {
    FoundSpans found = numbers.spans_above(label, instance, threshold.value_or(scope.threshold));
    spans += found.size();
    if (spans > kMostSpans)
      throw make_error(ErrorCode::resource_exhausted, "a text has more than ", kMostSpans,
                       " spans above the threshold: ask for a higher one");
    spans_.emplace(std::pair(label, instance), std::move(found));
  };
  for (std::size_t i = 0; i < scope.schema.structures.size(); ++i) {
    const PromptTask& task = scope.prompt.structures[i];
    for (std::size_t instance = 0; instance < count_of(task); ++instance) {
      for (std::size_t k = 0; k < scope.schema.structures[i].fields.size(); ++k) {
        const ExtractField& field = scope.schema.structures[i].fields[k];
        const std::size_t label = task.first_label + k;
        if (field.choices.empty()) {
          keep_spans(label, instance, field.threshold);
          continue;
        }
        std::vector<float>& scores = choices_[{label, instance}];
        for (const std::size_t word : scope.prompt.choices[i][k])
          scores.push_back(numbers.choice_score(word, label, instance));
      }
    }
  }
  if (!scope.schema.entities.empty() && count_of(scope.prompt.entities) > 0) {
    for (std::size_t i = 0; i < scope.schema.entities.size(); ++i)
      keep_spans(scope.prompt.entities.first_label + i, 0, scope.schema.entities[i].threshold);
  }
  for (std::size_t i = 0; i < scope.schema.relations.size(); ++i) {
    const PromptTask& task = scope.prompt.relations[i];
    for (std::size_t instance = 0; instance < count_of(task); ++instance) {
      for (const std::size_t end : {0, 1})
        keep_spans(task.first_label + end, instance, scope.schema.relations[i].threshold);
    }
  }
}

std::span<const float> ReadRow::mark(std::size_t index) const {
  return std::span(marks_).subspan(index * (kCounts + 1), kCounts + 1);
}

std::size_t ReadRow::count_of(const PromptTask& task) const {
  const std::span<const float> logits = mark(task.mark).first(kCounts);
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

Extraction read_extraction(const ExtractScope& scope, const WordText& text, std::string_view given,
                           std::span<const ReadRow> rows) {
  return TextReader(scope, text, given, rows).read();
}

}  // namespace alate::pipelines
