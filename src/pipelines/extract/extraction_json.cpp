#include "pipelines/extract/extraction_json.h"

#include <set>
#include <string_view>

#include "formats/json.h"
#include "pipelines/calls/json_members.h"
#include "tokenizers/chat_templates/text/python_characters.h"

namespace alate::pipelines {
namespace {

class ExtractionWriter {
 public:
  explicit ExtractionWriter(const ExtractionForm& form) : form_(form) {}

  std::string written(const Extraction& extraction) {
    out_ = "{";
    for (const ExtractedStructure& structure : extraction.structures) write(structure);
    if (extraction.has_entities) {
      key("entities");
      write(extraction.entities);
    }
    for (const ExtractedClass& each : extraction.classifications) write(each);
    if (!extraction.relations.empty()) write_relations(extraction);
    out_ += '}';
    return std::move(out_);
  }

 private:
  void key(std::string_view name) {
    comma();
    formats::append_json_string(out_, name);
    out_ += ':';
  }
  // Between items: none after the beginning of an object or a list, nor after a key.
  void comma() {
    if (out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_ += ',';
  }

  void write(const ExtractedStructure& structure) {
    key(structure.name);
    // So does the package: an empty object where the model expects no instance, an empty list where none has a value.
    if (structure.instances.empty()) {
      out_ += structure.is_counted ? "[]" : "{}";
      return;
    }
    out_ += '[';
    for (const std::vector<ExtractedField>& instance : structure.instances) {
      comma();
      write(instance);
    }
    out_ += ']';
  }

  void write(const std::vector<ExtractedField>& fields) {
    out_ += '{';
    for (const ExtractedField& field : fields) {
      key(field.name);
      write_values(field);
    }
    out_ += '}';
  }

  void write_values(const ExtractedField& field) {
    if (!field.is_list) {
      if (field.values.empty())
        out_ += "null";
      else
        write(field.values.front());
      return;
    }
    out_ += '[';
    std::set<std::string> seen;
    for (const ExtractedValue& value : field.values) {
      if (!form_.spans && !seen.insert(tokenizers::chat_templates::lower_text(value.text)).second) continue;
      comma();
      write(value);
    }
    out_ += ']';
  }

  void write(const ExtractedValue& value) {
    const bool has_place = form_.spans && value.place;
    if (!form_.confidence && !has_place) return formats::append_json_string(out_, value.text);
    out_ += '{';
    append_member(out_, "text", value.text);
    if (form_.confidence) append_member(out_, "confidence", value.score);
    if (has_place) {
      append_member(out_, "start", value.place->start);
      append_member(out_, "end", value.place->end);
      append_member(out_, "byte_start", value.place->byte_start);
      append_member(out_, "byte_end", value.place->byte_end);
    }
    out_ += '}';
  }

  void write_relations(const Extraction& extraction) {
    key("relation_extraction");
    out_ += '{';
    for (const ExtractedRelation& relation : extraction.relations) {
      key(relation.name);
      out_ += '[';
      for (const auto& [head, tail] : relation.pairs) {
        comma();
        write_pair(head, tail);
      }
      out_ += ']';
    }
    out_ += '}';
  }

  void write_pair(const ExtractedValue& head, const ExtractedValue& tail) {
    const bool is_plain = !form_.confidence && !form_.spans;
    out_ += is_plain ? "[" : R"({"head":)";
    write(head);
    out_ += is_plain ? "," : R"(,"tail":)";
    write(tail);
    out_ += is_plain ? "]" : "}";
  }

  void write(const ExtractedClass& classification) {
    key(classification.task);
    if (!classification.is_list) return write_label(classification.labels.front());
    out_ += '[';
    for (const ExtractedValue& label : classification.labels) {
      comma();
      write_label(label);
    }
    out_ += ']';
  }

  void write_label(const ExtractedValue& label) {
    if (!form_.confidence) return formats::append_json_string(out_, label.text);
    out_ += '{';
    append_member(out_, "label", label.text);
    append_member(out_, "confidence", label.score);
    out_ += '}';
  }

  const ExtractionForm form_;
  std::string out_;
};

}  // namespace

std::string extraction_json(const Extraction& extraction, const ExtractionForm& form) {
  return ExtractionWriter(form).written(extraction);
}

}  // namespace alate::pipelines
