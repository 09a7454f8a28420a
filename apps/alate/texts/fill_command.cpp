// alate fill
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/fill.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/task_verb.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "pipelines/fill/fill_run.h"
#include "pipelines/fill/fills_json.h"

namespace alate::app {
namespace {

using pipelines::FillRun;

const std::vector<std::vector<Fill>>& answer_of(const AnsweredText& answered) {
  return static_cast<FillRun&>(answered.run).fills()[answered.index];
}

// "0<tab>0.123456<tab> blue<tab>The sky is blue.": the number of the mask first; an empty line between texts.
std::string lines_of(const AnsweredText& answered) {
  std::string lines = answered.number > 0 ? "\n" : "";
  const std::vector<std::vector<Fill>>& masks = answer_of(answered);
  for (std::size_t mask = 0; mask < masks.size(); ++mask) {
    for (const Fill& fill : masks[mask])
      lines += std::to_string(mask) + '\t' + rounded(fill.score) + '\t' + on_one_line(fill.token) + '\t' +
               on_one_line(fill.text) + '\n';
  }
  return lines;
}

std::string csv_of(const AnsweredText& answered) {
  std::string lines;
  const std::vector<std::vector<Fill>>& masks = answer_of(answered);
  for (std::size_t mask = 0; mask < masks.size(); ++mask) {
    for (const Fill& fill : masks[mask]) {
      lines += std::to_string(answered.number) + ',' + std::to_string(mask) + ',';
      formats::append_json_number(lines, fill.score);
      lines += ',' + csv_field(fill.token) + ',' + csv_field(fill.text) + '\n';
    }
  }
  return lines;
}

// The mask is the model's own: [MASK] of one, <mask> of another.
std::string refusal_of(const AnsweredText& answered, const std::string& mask) {
  if (!answer_of(answered).empty()) return {};
  const std::string named = formats::quoted_name(mask);
  if (answered.text.find(mask) == std::string_view::npos)
    return " has no mask: this model's is " + named + ", which belongs in each place to be filled";
  return " has its mask " + named + " behind the part that the model reads; shorten it, or choose --long cut-left";
}

void add_options(FingerprintBuilder& identity, const FillOptions& options) {
  identity.add(std::uint64_t{options.top_k}).add(std::uint64_t{options.targets.size()});
  for (const std::string& target : options.targets) identity.add(target);
}

}  // namespace

void run_fill(Arguments& arguments) {
  TaskArguments given;
  FillOptions fill;
  declare_inputs(arguments, given);
  arguments.option("--top-k", "N", "the best N tokens of each mask; 5 if not given", fill.top_k);
  arguments.list("--targets", "WORD", "only these tokens", fill.targets);
  declare_options(arguments, given);
  if (!arguments.parse()) return;
  std::string mask;
  const auto on = [&](const pipelines::TextModel& model) -> TaskVerb::Begin {
    fill.long_texts = given.long_texts;
    const FillPipeline filler = pipelines::filler_of(model);
    mask = filler.mask();
    return [pipeline = filler, fill](std::vector<std::string_view> texts) {
      return std::make_unique<FillRun>(pipeline, std::move(texts), fill);
    };
  };
  run_task_verb(arguments, given,
                {.name = "fill",
                 .items = "fills",
                 .task = pipelines::Task::fill,
                 .on = on,
                 .identity = [&](FingerprintBuilder& identity) { add_options(identity, fill); },
                 .refusal = [&](const AnsweredText& answered) { return refusal_of(answered, mask); },
                 .json = [](const AnsweredText& answered) { return pipelines::fills_json(answer_of(answered)); },
                 .lines = lines_of,
                 .csv = csv_of,
                 .csv_head = "index,mask,score,token,text\n"});
}

}  // namespace alate::app
