#include "pipelines/extract/schema_prompt.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/encode.h"

namespace alate::pipelines {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::string_view kDescription = "[DESCRIPTION]", kExample = "[EXAMPLE]", kOutput = "[OUTPUT]";

Ids ids_of_part(const TextModel& model, std::string_view text, const base::Cancellation& cancellation) {
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  return tokenizers::encode(model.tokenizer, text, alone, cancellation).ids;
}

std::int32_t marker_id(const TextModel& model, std::string_view marker, SchemaMarkers& markers) {
  const std::optional<std::int32_t> id = model.tokenizer.token_to_id(marker);
  if (!id || *id < 0 || *id >= model.model.state().limits().vocabulary)
    throw make_error(ErrorCode::corrupt, "the tokenizer of '", runtime::shown_name(model.model.state().folder),
                     "' has no token ", marker, " that the model knows: the files do not belong together");
  markers.all.push_back(*id);
  return *id;
}

// Writes the prompt, in the package's order: structures, entities, relations, classifications.
class SchemaWriter {
 public:
  SchemaWriter(const TextModel& model, const Extractor& extractor, const ExtractSchema& schema, std::size_t most,
               const base::Cancellation& cancellation)
      : model_(model), extractor_(extractor), schema_(schema), most_(most), cancellation_(cancellation) {}

  SchemaPrompt written() {
    for (const ExtractStructure& structure : schema_.structures) add_structure(structure);
    if (!schema_.entities.empty()) add_entities();
    for (const ExtractRelation& relation : schema_.relations) add_relation(relation);
    for (const ExtractClassification& task : schema_.classifications) add_classification(task);
    add_id(extractor_.markers.text);
    add_choices();
    // Spans are scored for some label always: one that nobody reads where no task has fields.
    if (prompt_.around.labels.empty()) {
      prompt_.around.labels.push_back(prompt_.around.marks.front());
      prompt_.around.groups.push_back(1);
    }
    return std::move(prompt_);
  }

 private:
  void add_id(std::int32_t id) {
    prompt_.around.ids.push_back(id);
    require_room();
  }
  void add_ids(const Ids& ids) {
    prompt_.around.ids.insert(prompt_.around.ids.end(), ids.begin(), ids.end());
    require_room();
  }
  // For so many tokens more.
  void require_room(std::size_t more = 0) const {
    if (prompt_.around.ids.size() + extractor_.period.size() + more <= most_) return;
    throw make_error(ErrorCode::invalid_argument, "the schema takes more than ", most_,
                     " tokens, half of what is read at once: shorten it, or ask for its parts one after the other");
  }
  // Of a text that the schema's author wrote.
  Ids read(std::string_view text) {
    Ids ids = ids_of_part(model_, text, cancellation_);
    const auto is_marker = [&](std::int32_t id) {
      return std::ranges::find(extractor_.markers.all, id) != extractor_.markers.all.end();
    };
    if (std::ranges::any_of(ids, is_marker))
      throw make_error(ErrorCode::invalid_argument, "the schema's text ", formats::quoted_name(text),
                       " has a marker of the model's prompt in it: leave that out");
    return ids;
  }
  // Of texts joined by markers, which are read as one.
  Ids read_joined(const std::vector<std::string>& parts, std::string_view whole) {
    for (const std::string& part : parts) (void)read(part);
    return ids_of_part(model_, whole, cancellation_);
  }

  PromptTask begin_task(const Ids& heading) {
    if (group_++ > 0) add_id(extractor_.markers.next_task);
    const PromptTask task{.mark = prompt_.around.marks.size(), .first_label = prompt_.around.labels.size()};
    add_ids(punctuation("("));
    add_mark(extractor_.markers.task);
    add_ids(heading);
    add_ids(punctuation("("));
    return task;
  }
  void end_task() {
    add_ids(punctuation(")"));
    add_ids(punctuation(")"));
  }
  void add_mark(std::int32_t id) {
    prompt_.around.marks.push_back(static_cast<std::int32_t>(prompt_.around.ids.size()));
    add_id(id);
  }
  void add_label(std::int32_t marker, std::string_view name) {
    prompt_.around.labels.push_back(static_cast<std::int32_t>(prompt_.around.ids.size()));
    prompt_.around.groups.push_back(group_);
    add_id(marker);
    add_ids(read(name));
  }
  const Ids& punctuation(const std::string& text) {
    const auto [found, is_new] = punctuation_.try_emplace(text);
    if (is_new) found->second = ids_of_part(model_, text, cancellation_);
    return found->second;
  }

  // "NAME [DESCRIPTION] FIELD: TEXT …"
  template <typename Item>
  Ids described(const std::string& name, const std::vector<Item>& items) {
    std::vector<std::string> parts = {name};
    std::string whole = name;
    for (const Item& item : items) {
      if (item.description.empty()) continue;
      parts.push_back(item.name + ": " + item.description);
      whole += ' ' + std::string(kDescription) + ' ' + parts.back();
    }
    return read_joined(parts, whole);
  }

  void add_structure(const ExtractStructure& structure) {
    require_room(structure.fields.size());
    prompt_.structures.push_back(begin_task(described(structure.name, structure.fields)));
    for (const ExtractField& field : structure.fields) add_label(extractor_.markers.field, field.name);
    end_task();
  }

  void add_entities() {
    require_room(schema_.entities.size());
    prompt_.entities = begin_task(described("entities", schema_.entities));
    for (const ExtractEntity& entity : schema_.entities) add_label(extractor_.markers.entity, entity.name);
    end_task();
  }

  void add_relation(const ExtractRelation& relation) {
    const std::string heading =
        relation.description.empty() ? relation.name : relation.name + ": " + relation.description;
    prompt_.relations.push_back(begin_task(read(heading)));
    for (const char* end : {"head", "tail"}) add_label(extractor_.markers.relation, end);
    end_task();
  }

  void add_classification(const ExtractClassification& task) {
    std::vector<std::string> parts = {task.prompt.empty() ? task.task : task.task + ": " + task.prompt};
    std::string whole = parts.front();
    for (std::size_t i = 0; i < task.descriptions.size(); ++i) {
      parts.push_back(task.labels[i] + ": " + task.descriptions[i]);
      whole += ' ' + std::string(kDescription) + ' ' + parts.back();
    }
    const std::unordered_set<std::string_view> labels(task.labels.begin(), task.labels.end());
    for (const auto& [text, label] : task.examples) {
      if (!labels.contains(label)) continue;
      parts.insert(parts.end(), {text, label});
      whole.append(" ").append(kExample).append(" ").append(text).append(" ").append(kOutput).append(" ").append(label);
    }
    // Each takes a marker at least: what cannot fit is refused before it is read.
    require_room(task.labels.size() + parts.size() - 1);
    prompt_.classifications.push_back(begin_task(read_joined(parts, whole)));
    for (const std::string& label : task.labels) {
      add_mark(extractor_.markers.label);
      add_ids(read(label));
    }
    end_task();
  }

  // Choices are words of the prompt, before those of the text: "( NAME: FIELD ( one | another ) , FIELD ( … ) )".
  void add_choices() {
    for (const ExtractStructure& structure : schema_.structures) {
      bool has_begun = false;
      for (const ExtractField& field : structure.fields) {
        if (field.choices.empty()) continue;
        if (has_begun) {
          add_word(",");
        } else {
          add_word("(");
          add_word(structure.name + ":");
        }
        has_begun = true;
        add_word(field.name);
        add_word("(");
        for (std::size_t i = 0; i < field.choices.size(); ++i) {
          if (i > 0) add_word("|");
          add_word(field.choices[i]);
        }
        add_word(")");
      }
      if (has_begun) add_word(")");
    }
    // The first word that is the choice counts, be it in another field: models are trained with all of them.
    for (const ExtractStructure& structure : schema_.structures) {
      auto& of_fields = prompt_.choices.emplace_back();
      for (const ExtractField& field : structure.fields) {
        std::vector<std::size_t>& places = of_fields.emplace_back();
        for (const std::string& choice : field.choices) places.push_back(words_.at(lower(choice)));
      }
    }
  }
  void add_word(const std::string& word) {
    const Ids ids = read(word);
    if (ids.empty())
      throw make_error(ErrorCode::invalid_argument, "the schema's ", formats::quoted_name(word),
                       " has nothing that the model's tokenizer reads: give a word or phrase");
    words_.try_emplace(lower(word), prompt_.around.words.size());
    prompt_.around.words.push_back(static_cast<std::int32_t>(prompt_.around.ids.size()));
    add_ids(ids);
  }
  static std::string lower(const std::string& text) { return tokenizers::chat_templates::lower_text(text); }

  const TextModel& model_;
  const Extractor& extractor_;
  const ExtractSchema& schema_;
  const std::size_t most_;
  const base::Cancellation& cancellation_;
  SchemaPrompt prompt_;
  std::int32_t group_ = 0;
  std::map<std::string, Ids> punctuation_;
  std::map<std::string, std::size_t> words_;  // in lower case: their places among the prompt's words
};

}  // namespace

Extractor read_extractor(const TextModel& model) {
  Extractor extractor{.config = models::read_extractor_config(model.model.state().config), .markers = {}, .period = {}};
  SchemaMarkers& markers = extractor.markers;
  const auto id = [&](std::string_view marker) { return marker_id(model, marker, markers); };
  markers.next_task = id("[SEP_STRUCT]");
  markers.text = id("[SEP_TEXT]");
  markers.task = id("[P]");
  markers.field = id("[C]");
  markers.entity = id("[E]");
  markers.relation = id("[R]");
  markers.label = id("[L]");
  for (const std::string_view within : {kDescription, kExample, kOutput}) (void)id(within);
  extractor.period = ids_of_part(model, ".", base::Cancellation::never());
  if (extractor.period.empty())
    throw make_error(ErrorCode::corrupt, "the tokenizer of '", runtime::shown_name(model.model.state().folder),
                     "' makes nothing of a period, with which the model's texts end: it is not that of the model");
  return extractor;
}

SchemaPrompt make_schema_prompt(const TextModel& model, const Extractor& extractor, const ExtractSchema& schema,
                                std::size_t row_length, const base::Cancellation& cancellation) {
  return SchemaWriter(model, extractor, schema, row_length / 2, cancellation).written();
}

}  // namespace alate::pipelines
