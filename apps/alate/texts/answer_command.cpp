// alate answer
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/answer.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/answer/answer_run.h"
#include "pipelines/answer/answers_json.h"

namespace alate::app {
namespace {

using pipelines::AnswerRun;

const std::vector<Answer>& answer_of(const AnsweredText& answered) {
  return static_cast<AnswerRun&>(answered.run).answers()[answered.index];
}

// A line for each answer, "0.912345<tab>34<tab>40<tab>Berlin"; an empty one between texts.
std::string lines_of(const AnsweredText& answered) {
  std::string lines = answered.number > 0 ? "\n" : "";
  for (const Answer& answer : answer_of(answered)) {
    lines += rounded(answer.score) + '\t' + std::to_string(answer.start) + '\t' + std::to_string(answer.end) + '\t' +
             on_one_line(answer.text) + '\n';
  }
  return lines;
}

std::string csv_of(const AnsweredText& answered) {
  std::string lines;
  for (const Answer& answer : answer_of(answered)) {
    lines += std::to_string(answered.number) + ',';
    formats::append_json_number(lines, answer.score);
    lines +=
        ',' + std::to_string(answer.start) + ',' + std::to_string(answer.end) + ',' + csv_field(answer.text) + '\n';
  }
  return lines;
}

void add_options(FingerprintBuilder& identity, const AnswerOptions& options) {
  identity.add(std::uint64_t{options.top_k}).add(std::uint64_t{options.max_answer_length});
  identity.add(std::uint64_t{options.no_answer}).add(std::uint64_t{options.align_to_words});
}

}  // namespace

void run_answer(Arguments& arguments) {
  TaskArguments given;
  AnswerOptions answer;
  std::optional<std::string> question;
  declare_inputs(arguments, given);
  arguments.option("--question", "TEXT", "what the texts are to answer", question);
  arguments.option("--top-k", "N", "at most N answers of each text; 1 if not given", answer.top_k);
  arguments.option("--max-answer-length", "N", "the most tokens of an answer; 15 if not given",
                   answer.max_answer_length);
  arguments.flag("--no-answer", "a text may have no answer: an empty one is among its answers", answer.no_answer);
  arguments.flag("--align-to-words,!--align-to-tokens", "answers end with words, or with tokens",
                 answer.align_to_words);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  if (!question) throw arguments.usage_error("--question is missing: say what the texts are to answer");
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    answer.long_texts = given.long_texts;
    return [pipeline = pipelines::answerer_of(model), answer, asked = *question](std::vector<std::string_view> texts) {
      return std::make_unique<AnswerRun>(pipeline, asked, std::move(texts), answer);
    };
  };
  const auto identity = [&](FingerprintBuilder& builder) {
    builder.add(*question);
    add_options(builder, answer);
  };
  run_task_verb(arguments, given,
                {.name = "answer",
                 .items = "answers",
                 .task = pipelines::Task::answer,
                 .on = on,
                 .identity = identity,
                 .json = [](const AnsweredText& answered) { return pipelines::answers_json(answer_of(answered)); },
                 .lines = lines_of,
                 .csv = csv_of,
                 .csv_head = "index,score,start,end,answer\n"});
}

}  // namespace alate::app
