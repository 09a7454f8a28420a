#include "server/api/ollama_load.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "server/api/background.h"
#include "server/api/native.h"
#include "server/api/ollama.h"
#include "server/api/ollama_answer.h"
#include "server/exchange/json_response.h"
#include "server/models/services.h"
#include "server/models/touch_model.h"

namespace alate::server {
namespace {

void unload(Call& call, OllamaQuestion question) {
  answer_in_background(call,
                       [&services = call.services, exchange = call.exchange, question = std::move(question)]() mutable {
                         const std::string name = services.models.describe(question.model).name;
                         for (const LoadedListing& loaded : services.models.loaded()) {
                           if (loaded.model->name == name)
                             touch_model(*exchange, services.models, *loaded.model, std::chrono::nanoseconds(0));
                         }
                         if (question.model.empty()) question.model = name;
                         return json_response(ollama_load_answer(question, "unload"));
                       });
}

}  // namespace

void load_as_ollama(Call& call, bool is_chat) {
  OllamaQuestion question{.model = ollama_model_of(call.body), .is_chat = is_chat};
  const std::optional<std::chrono::nanoseconds> keep_alive = read_keep_alive(call.body);
  if (keep_alive == std::chrono::nanoseconds(0)) return unload(call, std::move(question));
  go_on_with_model(call, question.model,
                   [question, keep_alive](Call& going_on, const HostedModel& model) mutable {
                     model.generator();  // refuses others
                     touch_model(*going_on.exchange, going_on.services.models, model, keep_alive);
                     if (question.model.empty()) question.model = model.name;
                     going_on.exchange->reply(json_response(ollama_load_answer(question, "load")));
                   },
                   {.tasks = {pipelines::Task::generate}});
}

}  // namespace alate::server
