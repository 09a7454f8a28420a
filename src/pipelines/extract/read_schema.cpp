#include "pipelines/extract/read_schema.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "pipelines/calls/call_limits.h"
#include "tokenizers/unicode/canonical_text.h"

namespace alate::pipelines {
namespace {

using formats::Json;

const std::string kEntitiesKey = "entities", kRelationsKey = "relation_extraction";
constexpr std::size_t kMostSchemaValues = 100'000;

[[noreturn]] void wrong(const std::string& place, std::string_view what) {
  throw make_error(ErrorCode::invalid_argument, "schema: ", place, " ", what);
}

std::string inside(const std::string& place, std::string_view name) {
  return place + (place.empty() ? "" : ".") + formats::quoted_name(name);
}

// Nothing else: a misspelled option must not be dropped.
void require_members(const Json& json, const std::string& place, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : json.as_object(place)) {
    if (std::ranges::find(known, std::string_view(name)) == known.end())
      wrong(place, "has no member " + formats::quoted_name(name));
  }
}

std::string text_in(const Json& json, const std::string& place, std::string_view name) {
  const Json* value = json.find_value(name);
  if (value == nullptr) return {};
  if (!value->is_string()) wrong(inside(place, name), "must be a text");
  return value->as_string(name);
}

bool flag_in(const Json& json, const std::string& place, std::string_view name) {
  const Json* value = json.find_value(name);
  if (value != nullptr && !value->is_bool()) wrong(inside(place, name), "must be true or false");
  return value != nullptr && value->as_bool(name);
}

std::optional<float> score_in(const Json& json, const std::string& place, std::string_view name) {
  const Json* value = json.find_value(name);
  if (value == nullptr) return {};
  if (!value->is_number()) wrong(inside(place, name), "must be a number from 0 to 1");
  return static_cast<float>(value->as_double(name));
}

std::vector<std::string> texts_of(const Json& json, const std::string& place) {
  if (!json.is_array()) wrong(place, "must be a list of texts");
  std::vector<std::string> texts;
  for (const Json& each : json.as_array(place)) {
    if (!each.is_string()) wrong(place, "must be a list of texts");
    texts.push_back(each.as_string(place));
  }
  return texts;
}

std::optional<bool> list_type(std::string_view dtype) {
  if (dtype == "list") return true;
  if (dtype == "str") return false;
  return {};
}

bool is_list_in(const Json& json, const std::string& place) {
  const std::string dtype = text_in(json, place, "dtype");
  if (dtype.empty()) return true;
  const std::optional<bool> found = list_type(dtype);
  if (!found) wrong(inside(place, "dtype"), "must be \"str\" or \"list\"");
  return *found;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::vector<std::string> choices_of(std::string_view list) {
  require_short_list(static_cast<std::size_t>(std::ranges::count(list, '|')) + 1, "schema: a list of choices");
  std::vector<std::string> choices;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find('|', begin), list.size());
    choices.emplace_back(trimmed(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return choices;
}

// "NAME::str::[one|another]::a description", in any order after the name.
ExtractField field_of_text(std::string_view text) {
  constexpr std::string_view kBetween = "::";
  ExtractField field{.name = std::string(text.substr(0, text.find(kBetween)))};
  bool has_type = false;
  for (std::size_t at = text.find(kBetween); at != std::string_view::npos;) {
    const std::size_t begin = at + kBetween.size();
    at = text.find(kBetween, begin);
    const std::string_view part = text.substr(begin, at == std::string_view::npos ? at : at - begin);
    if (const std::optional<bool> type = list_type(part)) {
      field.is_list = *type;
      has_type = true;
    } else if (part.size() >= 2 && part.front() == '[' && part.back() == ']') {
      field.choices = choices_of(part.substr(1, part.size() - 2));
      if (!has_type) field.is_list = false;
    } else {
      field.description = part;
    }
  }
  return field;
}

ExtractField field_of_json(const Json& json, const std::string& place) {
  if (json.is_string()) return field_of_text(json.as_string(place));
  if (!json.is_object()) wrong(place, "must have texts such as \"name::str\", or objects with a name");
  require_members(json, place, {"name", "dtype", "choices", "description", "threshold"});
  ExtractField field{.name = text_in(json, place, "name"),
                     .is_list = is_list_in(json, place),
                     .choices = {},
                     .description = text_in(json, place, "description"),
                     .threshold = score_in(json, place, "threshold")};
  if (const Json* choices = json.find_value("choices")) {
    field.choices = texts_of(*choices, inside(place, "choices"));
    if (field.choices.empty()) wrong(inside(place, "choices"), "is empty");
  }
  return field;
}

ExtractStructure structure_of(const std::string& name, const Json& fields, const std::string& place) {
  if (!fields.is_array()) wrong(place, "must be a list of fields, such as [\"name::str\", \"tags::list\"]");
  ExtractStructure structure{.name = name, .fields = {}};
  for (const Json& field : fields.as_array(place)) structure.fields.push_back(field_of_json(field, place));
  return structure;
}

void read_structures(const Json& json, ExtractSchema& schema) {
  const std::string place = "structures";
  if (!json.is_object()) wrong(place, "must be an object: the fields of each structure by its name");
  for (const auto& [name, content] : json.as_object(place)) {
    const std::string own = inside(place, name);
    if (!content.is_object()) {
      schema.structures.push_back(structure_of(name, content, own));
      continue;
    }
    for (const std::string_view mode : {"mode", "anchor", "occurrence_policy"}) {
      if (content.find_value(mode) != nullptr)
        throw make_error(ErrorCode::unsupported, "schema: ", own, " has the member ", mode,
                         ", which GLiNER2's span models do not read: ", mode);
    }
    require_members(content, own, {"fields", "mode", "anchor", "occurrence_policy"});
    const Json* fields = content.find_value("fields");
    if (fields == nullptr) wrong(own, "has no \"fields\"");
    schema.structures.push_back(structure_of(name, *fields, inside(own, "fields")));
  }
}

// A list of names, or an object: of each name its description, or an object of its own.
template <typename Add>
void read_named(const Json& json, const std::string& place, const Add& add) {
  if (json.is_array()) {
    for (std::string& name : texts_of(json, place)) add(std::move(name), Json::Object(), place);
    return;
  }
  if (!json.is_object()) wrong(place, "must be a list of names, or an object of names with descriptions");
  for (const auto& [name, content] : json.as_object(place)) {
    const std::string own = inside(place, name);
    if (content.is_string()) {
      add(name, Json(Json::Object{{"description", content}}), own);
      continue;
    }
    if (!content.is_object()) wrong(own, "must be a description, or an object");
    add(name, content, own);
  }
}

void read_entities(const Json& json, ExtractSchema& schema) {
  read_named(json, "entities", [&](std::string name, const Json& content, const std::string& place) {
    require_members(content, place, {"description", "dtype", "threshold"});
    schema.entities.push_back({.name = std::move(name),
                               .is_list = is_list_in(content, place),
                               .description = text_in(content, place, "description"),
                               .threshold = score_in(content, place, "threshold")});
  });
}

void read_relations(const Json& json, ExtractSchema& schema) {
  read_named(json, "relations", [&](std::string name, const Json& content, const std::string& place) {
    require_members(content, place, {"description", "threshold"});
    schema.relations.push_back({.name = std::move(name),
                                .description = text_in(content, place, "description"),
                                .threshold = score_in(content, place, "threshold")});
  });
}

void read_labels(const Json& json, const std::string& place, ExtractClassification& made) {
  if (!json.is_object()) {
    made.labels = texts_of(json, place);
    return;
  }
  for (const auto& [label, description] : json.as_object(place)) {
    if (!description.is_string()) wrong(inside(place, label), "must be the label's description");
    made.labels.push_back(label);
    made.descriptions.push_back(description.as_string(label));
  }
}

ClassActivation activation_in(const Json& json, const std::string& place) {
  const std::string name = text_in(json, place, "class_act");
  if (name.empty() || name == "auto") return ClassActivation::automatic;
  if (name == "softmax") return ClassActivation::softmax;
  if (name != "sigmoid") wrong(inside(place, "class_act"), "must be auto, softmax or sigmoid");
  return ClassActivation::sigmoid;
}

ExtractClassification classification_of(const Json& json, const std::string& place) {
  if (!json.is_object()) wrong(place, "must have objects with a task and its labels");
  require_members(json, place,
                  {"task", "labels", "multi_label", "cls_threshold", "top_k", "class_act", "prompt", "examples"});
  ExtractClassification made{.task = text_in(json, place, "task"), .labels = {}};
  const std::string own = inside(place, made.task);
  if (const Json* labels = json.find_value("labels")) read_labels(*labels, inside(own, "labels"), made);
  made.prompt = text_in(json, own, "prompt");
  made.multi_label = flag_in(json, own, "multi_label");
  made.threshold = score_in(json, own, "cls_threshold").value_or(made.threshold);
  made.activation = activation_in(json, own);
  if (const Json* most = json.find_value("top_k")) {
    if (!most->is_integer() || most->as_int("top_k") < 1) wrong(inside(own, "top_k"), "must be a number from 1 on");
    made.top_k = static_cast<std::size_t>(most->as_int("top_k"));
  }
  if (const Json* examples = json.find_value("examples")) {
    if (!examples->is_array()) wrong(inside(own, "examples"), "must be a list of pairs of a text and a label");
    for (const Json& example : examples->as_array("examples")) {
      std::vector<std::string> pair = texts_of(example, inside(own, "examples"));
      if (pair.size() != 2) wrong(inside(own, "examples"), "must be a list of pairs of a text and a label");
      made.examples.emplace_back(std::move(pair[0]), std::move(pair[1]));
    }
  }
  return made;
}

// Names are read by people and by the model, and are the keys of the answer.
class Names {
 public:
  explicit Names(std::string place) : place_(std::move(place)) {}

  void add(const std::string& name) {
    if (trimmed(name).empty()) wrong(place_, "has an empty name: give each a word or phrase");
    if (!seen_.insert(tokenizers::canonical_form(name)).second)
      wrong(place_, "names " + formats::quoted_name(name) + " twice");
  }

 private:
  std::string place_;
  std::set<std::string> seen_;  // in canonical form
};

void require_score(std::optional<float> score, const std::string& place) {
  if (score && !(*score >= 0 && *score <= 1)) wrong(place, "has a threshold that is no score from 0 to 1");
}

void require_listed(std::size_t entries, const std::string& place) { require_short_list(entries, "schema: " + place); }

}  // namespace

ExtractSchema read_schema(const Json& json) {
  if (!json.is_object()) wrong("it", "must be a JSON object");
  ExtractSchema schema;
  for (const auto& [name, content] : json.as_object("schema")) {
    if (name == "entities") {
      read_entities(content, schema);
    } else if (name == "relations") {
      read_relations(content, schema);
    } else if (name == "structures") {
      read_structures(content, schema);
    } else if (name == "classifications") {
      if (!content.is_array()) wrong("classifications", "must be a list of tasks");
      for (const Json& each : content.as_array(name))
        schema.classifications.push_back(classification_of(each, "classifications"));
    } else if (name == "entity_attributes") {
      throw make_error(ErrorCode::unsupported, "schema: attributes of entities are not read here: ", name);
    } else {
      schema.structures.push_back(structure_of(name, content, formats::quoted_name(name)));
    }
  }
  return schema;
}

void check_schema(const ExtractSchema& schema) {
  if (schema.structures.empty() && schema.entities.empty() && schema.relations.empty() &&
      schema.classifications.empty())
    wrong("it", R"(asks for nothing: name a structure with its fields, such as {"person": ["name::str"]})");
  require_listed(schema.structures.size(), "structures");
  require_listed(schema.entities.size(), "entities");
  require_listed(schema.relations.size(), "relations");
  require_listed(schema.classifications.size(), "classifications");
  // Structures and tasks are members of one answer, beside those that have all entities and all relations.
  Names parts("it"), entities("entities"), relations("relations");
  parts.add(kEntitiesKey);
  parts.add(kRelationsKey);
  for (const ExtractStructure& structure : schema.structures) {
    parts.add(structure.name);
    const std::string place = formats::quoted_name(structure.name);
    if (structure.fields.empty()) wrong(place, "has no fields");
    require_listed(structure.fields.size(), place);
    Names fields(place);
    for (const ExtractField& field : structure.fields) {
      fields.add(field.name);
      require_score(field.threshold, inside(place, field.name));
      require_listed(field.choices.size(), inside(place, field.name));
      Names choices(inside(place, field.name));
      for (const std::string& choice : field.choices) choices.add(choice);
    }
  }
  for (const ExtractEntity& entity : schema.entities) {
    entities.add(entity.name);
    require_score(entity.threshold, inside("entities", entity.name));
  }
  for (const ExtractRelation& relation : schema.relations) {
    relations.add(relation.name);
    require_score(relation.threshold, inside("relations", relation.name));
  }
  for (const ExtractClassification& task : schema.classifications) {
    parts.add(task.task);
    const std::string place = inside("classifications", task.task);
    require_score(task.threshold, place);
    if (task.labels.size() < 2) wrong(place, "needs two labels at least");
    require_listed(task.labels.size(), inside(place, "labels"));
    require_listed(task.examples.size(), inside(place, "examples"));
    if (!task.descriptions.empty() && task.descriptions.size() != task.labels.size())
      wrong(place, "must have a description for each label, or none");
    Names labels(place);
    for (const std::string& label : task.labels) labels.add(label);
  }
}

}  // namespace alate::pipelines

namespace alate {

ExtractSchema ExtractSchema::parse(std::string_view json) {
  using pipelines::kMostSchemaBytes;
  using pipelines::kMostSchemaValues;
  try {
    ExtractSchema schema = pipelines::read_schema(formats::parse_json(
        json, "the schema", {.max_depth = 16, .max_bytes = kMostSchemaBytes, .max_values = kMostSchemaValues}));
    pipelines::check_schema(schema);
    return schema;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) throw;
    throw Error(ErrorCode::invalid_argument, error.message());
  }
}

}  // namespace alate
