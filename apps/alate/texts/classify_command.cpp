// alate classify
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/classify.h"
#include "alate/error.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/classify/classify_run.h"
#include "pipelines/classify/label_scores_json.h"

namespace alate::app {
namespace {

using pipelines::ClassifyRun;

const std::vector<LabelScore>& answer_of(const AnsweredText& answered) {
  return static_cast<ClassifyRun&>(answered.run).answers()[answered.index];
}

// "POSITIVE 0.999123, NEGATIVE 0.000877<tab>the text"
std::string lines_of(const AnsweredText& answered) {
  std::string line;
  for (const LabelScore& one : answer_of(answered))
    line += (line.empty() ? "" : ", ") + on_one_line(one.label) + ' ' + rounded(one.score);
  return line + '\t' + on_one_line(answered.text) + '\n';
}

std::string csv_of(const AnsweredText& answered) {
  std::string lines;
  for (const LabelScore& one : answer_of(answered)) {
    lines += std::to_string(answered.number) + ',' + csv_field(one.label) + ',';
    formats::append_json_number(lines, one.score);
    lines += ',' + csv_field(answered.text) + '\n';
  }
  return lines;
}

void add(FingerprintBuilder& identity, const ClassifyOptions& options) {
  identity.add(std::uint64_t{options.labels.size()});
  for (const std::string& label : options.labels) identity.add(label);
  identity.add(options.hypothesis_template);
  identity.add(std::uint64_t{options.multi_label ? (*options.multi_label ? 2U : 1U) : 0U});
  add_number(identity, options.top_k);
  identity.add(std::uint64_t{options.raw_scores});
}

}  // namespace

void run_classify(Arguments& arguments) {
  TaskArguments given;
  ClassifyOptions classify;
  declare_inputs(arguments, given);
  arguments.list("--labels", "LABEL",
                 "labels to choose among, for a model of natural language inference; one with a comma in double quotes",
                 classify.labels);
  arguments.option("--hypothesis-template", "TEXT", "what a label stands for; {} is the label, {{ a brace",
                   classify.hypothesis_template);
  arguments.flag("--multi-label,!--single-label", "each label by itself, or one of them; else as the model says",
                 classify.multi_label);
  arguments.option("--top-k", "N", "only the best N labels of each text", classify.top_k);
  arguments.flag("--raw-scores", "the model's own numbers; else scores from 0 to 1", classify.raw_scores);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  if (classify.top_k == std::size_t{0}) throw arguments.usage_error("--top-k is at least 1");
  const auto json = [](const AnsweredText& answered) { return pipelines::label_scores_json(answer_of(answered)); };
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    classify.long_texts = given.long_texts;
    return [pipeline = pipelines::classifier_of(model), classify](std::vector<std::string_view> texts) {
      return std::make_unique<ClassifyRun>(pipeline, std::vector<EncodeInput>(texts.begin(), texts.end()), classify);
    };
  };
  run_task_verb(arguments, given,
                {.name = "classify",
                 .items = "classifications",
                 .task = pipelines::Task::classify,
                 .on = on,
                 .identity = [&](FingerprintBuilder& identity) { add(identity, classify); },
                 .json = json,
                 .lines = lines_of,
                 .csv = csv_of,
                 .csv_head = "index,label,score,text\n"});
}

}  // namespace alate::app
