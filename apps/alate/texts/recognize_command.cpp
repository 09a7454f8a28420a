// alate recognize
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/recognize.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/recognize_options.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/recognize/entities_json.h"
#include "pipelines/recognize/recognize_run.h"

namespace alate::app {
namespace {

using pipelines::RecognizeRun;

const std::vector<Entity>& answer_of(const AnsweredText& answered) {
  return static_cast<RecognizeRun&>(answered.run).entities()[answered.index];
}

// A line for each entity, "PER<tab>0.999123<tab>11<tab>14<tab>Ada"; an empty one between texts.
std::string lines_of(const AnsweredText& answered) {
  std::string lines = answered.number > 0 ? "\n" : "";
  for (const Entity& entity : answer_of(answered)) {
    lines += on_one_line(entity.label) + '\t' + rounded(entity.score) + '\t' + std::to_string(entity.start) + '\t' +
             std::to_string(entity.end) + '\t' + on_one_line(entity.text) + '\n';
  }
  return lines;
}

std::string csv_of(const AnsweredText& answered) {
  std::string lines;
  for (const Entity& entity : answer_of(answered)) {
    lines += std::to_string(answered.number) + ',' + csv_field(entity.label) + ',';
    formats::append_json_number(lines, entity.score);
    lines +=
        ',' + std::to_string(entity.start) + ',' + std::to_string(entity.end) + ',' + csv_field(entity.text) + '\n';
  }
  return lines;
}

}  // namespace

void run_recognize(Arguments& arguments) {
  TaskArguments given;
  RecognizeOptions recognize;
  declare_inputs(arguments, given);
  declare(arguments, recognize);
  arguments.flag("--nested", "entities within others too (GLiNER models)", recognize.nested);
  arguments.flag("--multi-label", "all labels of a place, not only the best (GLiNER models)", recognize.multi_label);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    recognize.long_texts = given.long_texts;
    return [pipeline = pipelines::recognizer_of(model), recognize](std::vector<std::string_view> texts) {
      return std::make_unique<RecognizeRun>(pipeline, std::move(texts), recognize);
    };
  };
  run_task_verb(arguments, given,
                {.name = "recognize",
                 .items = "entities",
                 .task = pipelines::Task::recognize,
                 .on = on,
                 .identity = [&](FingerprintBuilder& identity) { add(identity, recognize); },
                 .json = [](const AnsweredText& answered) { return pipelines::entities_json(answer_of(answered)); },
                 .lines = lines_of,
                 .csv = csv_of,
                 .csv_head = "index,label,score,start,end,text\n"});
}

}  // namespace alate::app
