// Token classification as Hugging Face's clients ask for it.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "alate/recognize.h"
#include "formats/json.h"
#include "pipelines/recognize/entities_json.h"
#include "pipelines/recognize/recognize_run.h"
#include "server/api/recognize.h"
#include "server/api/tei.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::RecognizeRun;

struct Wishes {
  RecognizeOptions options = {};
  std::unordered_set<std::string> ignored = {};  // labels, besides O
};

std::vector<std::string> texts_in(const Json& inputs, bool& is_lone) {
  is_lone = inputs.is_string();
  if (is_lone) return {inputs.as_string("inputs")};
  std::vector<std::string> texts;
  for (const Json& text : inputs.as_array("inputs")) texts.push_back(text.as_string("inputs"));
  if (texts.empty()) refuse(Problem::Kind::empty, "inputs is an empty list; it must hold at least one entry", "inputs");
  return texts;
}

// The members of "parameters" as huggingface_hub writes them.
Wishes read_wishes(const Json& body) {
  Wishes wishes;
  const Json* parameters = body.find("parameters");
  if (parameters == nullptr || !parameters->is_object()) return wishes;
  if (const Json* name = parameters->find_value("aggregation_strategy")) {
    wishes.options.aggregation = parse_aggregation(name->as_string("aggregation_strategy"));
    if (!wishes.options.aggregation)
      refuse(Problem::Kind::invalid, "aggregation_strategy is one of none, simple, first, average, max", "parameters");
  }
  if (const std::int64_t stride = parameters->get_int("stride", -1); stride >= 0)
    wishes.options.long_texts.stride = static_cast<std::size_t>(stride);
  if (const Json* ignored = parameters->find("ignore_labels"); ignored != nullptr && !ignored->is_null()) {
    for (const Json& label : ignored->as_array("ignore_labels"))
      wishes.ignored.insert(label.as_string("ignore_labels"));
  }
  return wishes;
}

std::string entities_of(std::vector<Entity>& entities, const std::unordered_set<std::string>& ignored) {
  std::erase_if(entities, [&](const Entity& entity) { return ignored.contains(entity.label); });
  return pipelines::hugging_face_entities_json(entities);
}

std::string answer_text(TaskAnswer& answer, bool is_lone, const std::unordered_set<std::string>& ignored) {
  auto& run = static_cast<RecognizeRun&>(*answer.run);
  if (is_lone) return entities_of(run.entities().front(), ignored);
  std::string out = "[";
  for (std::vector<Entity>& entities : run.entities())
    out += (out.size() > 1 ? "," : "") + entities_of(entities, ignored);
  return out += ']';
}

}  // namespace

void recognize_as_hugging_face(Call& call) {
  const Json* inputs = call.body.find("inputs");
  if (inputs == nullptr || inputs->is_null()) refuse(Problem::Kind::invalid, "inputs is missing", "inputs");
  TaskRequest request;
  request.model = tei_model_of(call);
  request.purpose.tasks = {pipelines::Task::recognize};
  request.parameter = "inputs";
  request.texts = texts_in(*inputs, request.lone);
  const bool is_lone = request.lone;
  Wishes wishes = read_wishes(call.body);
  run_task(
      call, std::move(request),
      [options = std::move(wishes.options)](const pipelines::TextModel& model, std::vector<std::string_view> texts) {
        return std::make_unique<RecognizeRun>(pipelines::recognizer_of(model), std::move(texts), options);
      },
      [is_lone, ignored = std::move(wishes.ignored)](TaskAnswer& answer) {
        return json_response(answer_text(answer, is_lone, ignored));
      });
}

}  // namespace alate::server
