// Extraction: what a schema asks of texts, by GLiNER2 models. A schema has structures (records of fields, such as a
// product with its price), entities, relations and classifications, which are read together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/long_texts.h"
#include "alate/model.h"
#include "alate/run_control.h"
#include "alate/tokenizer.h"

namespace alate {

/// A field of a structure: parts of the text, or some of its choices.
struct ExtractField {
  std::string name;
  bool is_list = true;                    // all values, else the best one
  std::vector<std::string> choices = {};  // empty: parts of the text
  std::string description = {};           // that the model reads with the name
  std::optional<float> threshold = {};    // in place of ExtractOptions::threshold
};

/// A record that a text may have several of.
struct ExtractStructure {
  std::string name;
  std::vector<ExtractField> fields;
};

/// A kind of entity.
struct ExtractEntity {
  std::string name;
  bool is_list = true;
  std::string description = {};
  std::optional<float> threshold = {};
};

/// A relation between two parts of the text, its head and its tail.
struct ExtractRelation {
  std::string name;
  std::string description = {};
  std::optional<float> threshold = {};
};

/// How the logits of a classification's labels become scores: a sum of 1, each by itself, or as multi_label says.
enum class ClassActivation : std::uint8_t { automatic, softmax, sigmoid };

/// A choice among labels for the whole text.
struct ExtractClassification {
  std::string task;
  std::vector<std::string> labels;                                 // two at least
  std::vector<std::string> descriptions = {};                      // of each label; empty: none has one
  std::string prompt = {};                                         // an instruction that follows the task's name
  std::vector<std::pair<std::string, std::string>> examples = {};  // texts with their labels
  bool multi_label = false;                                        // all labels above the threshold
  float threshold = 0.5F;                                          // of multi_label; the best one stays if none is
  std::optional<std::size_t> top_k = {};                           // of multi_label: at most so many
  ClassActivation activation = ClassActivation::automatic;
};

/// What is asked for. Names are unique among the parts of a kind.
struct ExtractSchema {
  std::vector<ExtractStructure> structures = {};
  std::vector<ExtractEntity> entities = {};
  std::vector<ExtractRelation> relations = {};
  std::vector<ExtractClassification> classifications = {};

  /// A JSON object. The members "entities", "relations", "classifications" and "structures" are as in
  /// gliner2.Schema.from_dict; every other one is a structure: a list of fields "NAME::str", "NAME::list",
  /// "NAME::[one|another]" or "NAME", each with "::a description" where wanted, or objects with name, dtype, choices,
  /// description and threshold. Throws invalid_argument saying which member is wrong, and for more than 100,000 values.
  static ExtractSchema parse(std::string_view json);
};

struct ExtractOptions {
  float threshold = 0.5F;  // the least score of values, 0 … 1
  // By default a text is read in windows, so that nothing is skipped: entities are found as if in one row, the
  // instances of structures and relations are those of all windows, each once, and each label of a classification has
  // the best of its scores.
  LongTextOptions long_texts = {};
  std::size_t batch_tokens = 2048;  // maximum tokens per batch; a longer row is a batch of its own
  std::size_t batch_size = 0;       // maximum rows per batch; 0: limited only by batch_tokens
};

/// Where a value is in a text.
struct ExtractedPlace {
  std::size_t start = 0, end = 0;            // code points of the text
  std::size_t byte_start = 0, byte_end = 0;  // bytes of it
  bool operator==(const ExtractedPlace&) const = default;
};

struct ExtractedValue {
  std::string text;  // from the original text, after invalid UTF-8 has become U+FFFD; or a choice of the schema
  float score = 0;   // 0 … 1
  std::optional<ExtractedPlace> place = {};  // absent of choices
};

struct ExtractedField {
  std::string name;
  bool is_list = true;
  std::vector<ExtractedValue> values;  // the best first; at most one if it is no list
};

struct ExtractedStructure {
  std::string name;
  bool is_counted = false;  // whether the model expects instances at all (of a long text, in its first window)
  std::vector<std::vector<ExtractedField>> instances;  // the fields of each, in the schema's order
};

struct ExtractedRelation {
  std::string name;
  std::vector<std::pair<ExtractedValue, ExtractedValue>> pairs;  // head and tail
};

struct ExtractedClass {
  std::string task;
  bool is_list = false;
  std::vector<ExtractedValue> labels;
};

/// Of one text, in the schema's order.
struct Extraction {
  std::vector<ExtractedStructure> structures;
  bool has_entities = false;             // whether the schema asks for entities
  std::vector<ExtractedField> entities;  // empty where the model expects none at all
  std::vector<ExtractedRelation> relations;
  std::vector<ExtractedClass> classifications;
};

/// Entry i is that of text i, however the texts were batched.
struct Extractions {
  std::vector<Extraction> texts;
  std::vector<std::size_t> truncated;  // indices of the texts that were cut, ascending
  std::size_t tokens = 0;              // computed tokens
};

/// A tokenizer and a GLiNER2 model. Immutable; thread-safe; copies share state.
class ExtractPipeline {
 public:
  /// A folder whose config.json has the model_type "extractor". Throws as Model::load, and unsupported for other
  /// models.
  static ExtractPipeline load(const std::filesystem::path& folder, const LoadOptions& options = {},
                              const RunControl& control = {});
  /// Over a model that is loaded already, whose folder has the tokenizer. Throws as `load`.
  static ExtractPipeline over(const Model& model);

  /// As GLiNER2.batch_extract of the package gliner2. Throws invalid_argument for a schema that the model cannot read
  /// (names that are empty or repeated, or hold a marker of its prompt; one that takes more than half of a row) and for
  /// a text that is too long where that is an error; resource_exhausted for too much at a time; cancelled,
  /// deadline_exceeded. The texts must live until the call returns.
  Extractions extract(std::span<const std::string_view> texts, const ExtractSchema& schema,
                      const ExtractOptions& options = {}, const RunControl& control = {}) const;
  Extractions extract(std::span<const std::string> texts, const ExtractSchema& schema,
                      const ExtractOptions& options = {}, const RunControl& control = {}) const;
  Extractions extract(std::initializer_list<std::string_view> texts, const ExtractSchema& schema,
                      const ExtractOptions& options = {}, const RunControl& control = {}) const {
    return extract(std::span<const std::string_view>(texts.begin(), texts.size()), schema, options, control);
  }

  std::size_t max_length() const;  // of a row, in tokens, with the schema
  const Tokenizer& tokenizer() const;
  const Model& model() const;
  const ModelFacts& facts() const;

  struct State;
  explicit ExtractPipeline(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace alate
