// alate extract
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/extract.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/recognize_options.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/verb.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "pipelines/extract/extract_run.h"
#include "pipelines/extract/extraction_json.h"

namespace alate::app {
namespace {

using pipelines::ExtractRun;

const Extraction& answer_of(const AnsweredText& answered) {
  return static_cast<ExtractRun&>(answered.run).extractions()[answered.index];
}

// "person<tab>1<tab>name<tab>0.999123<tab>0<tab>3<tab>Ada": the part of the schema, its instance from 1 on, field,
// score, start, end and value; an empty line between texts. Places are "-" where there are none.
template <typename Line>
void each_value(const Extraction& extraction, const Line& line) {
  for (const ExtractedStructure& structure : extraction.structures) {
    for (std::size_t i = 0; i < structure.instances.size(); ++i) {
      for (const ExtractedField& field : structure.instances[i])
        for (const ExtractedValue& value : field.values) line(structure.name, i + 1, field.name, value);
    }
  }
  for (const ExtractedField& entity : extraction.entities) {
    for (std::size_t i = 0; i < entity.values.size(); ++i) line("entities", i + 1, entity.name, entity.values[i]);
  }
  for (const ExtractedRelation& relation : extraction.relations) {
    for (std::size_t i = 0; i < relation.pairs.size(); ++i) {
      line(relation.name, i + 1, "head", relation.pairs[i].first);
      line(relation.name, i + 1, "tail", relation.pairs[i].second);
    }
  }
  for (const ExtractedClass& task : extraction.classifications) {
    for (std::size_t i = 0; i < task.labels.size(); ++i) line(task.task, i + 1, "label", task.labels[i]);
  }
}

std::string lines_of(const AnsweredText& answered) {
  std::string lines = answered.number > 0 ? "\n" : "";
  each_value(answer_of(answered), [&](std::string_view part, std::size_t instance, std::string_view field,
                                      const ExtractedValue& value) {
    lines += on_one_line(part) + '\t' + std::to_string(instance) + '\t' + on_one_line(field) + '\t' +
             rounded(value.score) + '\t';
    lines += value.place ? std::to_string(value.place->start) + '\t' + std::to_string(value.place->end) : "-\t-";
    lines += '\t' + on_one_line(value.text) + '\n';
  });
  return lines;
}

std::string csv_of(const AnsweredText& answered) {
  std::string lines;
  each_value(answer_of(answered), [&](std::string_view part, std::size_t instance, std::string_view field,
                                      const ExtractedValue& value) {
    lines += std::to_string(answered.number) + ',' + csv_field(part) + ',' + std::to_string(instance) + ',' +
             csv_field(field) + ',';
    formats::append_json_number(lines, value.score);
    lines += value.place ? ',' + std::to_string(value.place->start) + ',' + std::to_string(value.place->end) : ",,";
    lines += ',' + csv_field(value.text) + '\n';
  });
  return lines;
}

}  // namespace

void run_extract(Arguments& arguments) {
  TaskArguments given;
  ExtractOptions extract;
  pipelines::ExtractionForm form;
  std::string file;
  declare_inputs(arguments, given);
  arguments.option("--schema", "FILE", "JSON: what is asked for", file);
  arguments.option("--threshold", "SCORE", "the least score of values, 0 to 1; 0.5 if not given",
                   [&extract](std::string_view text) { extract.threshold = parse_score(text); });
  arguments.flag("--confidence", "values have their scores in json and jsonl", form.confidence);
  arguments.flag("--spans", "values have their places in json and jsonl", form.spans);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  if (file.empty()) throw arguments.usage_error("--schema FILE is required: a JSON object of what is asked for");
  const std::string text = base::read_text_file(file);
  const ExtractSchema schema = ExtractSchema::parse(text);
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    extract.long_texts = given.long_texts;
    return [pipeline = pipelines::extractor_of(model), schema, extract](std::vector<std::string_view> texts) {
      return std::make_unique<ExtractRun>(pipeline, std::move(texts), schema, extract);
    };
  };
  const auto add_options = [&](FingerprintBuilder& identity) {
    identity.add(text).add(std::to_string(extract.threshold));
    identity.add(std::uint64_t{form.confidence}).add(std::uint64_t{form.spans});
  };
  run_task_verb(
      arguments, given,
      {.name = "extract",
       .items = "results",
       .task = pipelines::Task::extract,
       .on = on,
       .identity = add_options,
       .json = [&](const AnsweredText& answered) { return pipelines::extraction_json(answer_of(answered), form); },
       .lines = lines_of,
       .csv = csv_of,
       .csv_head = "index,part,instance,field,score,start,end,text\n"});
}

}  // namespace alate::app
