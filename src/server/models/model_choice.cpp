#include "server/models/model_choice.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "folders/builtin_models.h"

namespace alate::server {
namespace {

using pipelines::Task;

constexpr std::chrono::seconds kFresh{1};
constexpr std::size_t kMostNamed = 10;

bool is_builtin(const NamedFolder& model) { return model.name.starts_with(folders::kBuiltinPrefix); }

Error several_models(Task task, const std::vector<NamedFolder>& models) {
  std::string names;
  for (std::size_t i = 0; i < std::min(models.size(), kMostNamed); ++i) names += (i > 0 ? ", " : "") + models[i].name;
  if (models.size() > kMostNamed) names += " and " + std::to_string(models.size() - kMostNamed) + " more";
  return make_error(ErrorCode::invalid_argument, "the request names no model, and this server has several ",
                    pipelines::model_type(task), "s: ", names);
}

// `usual` is what requests get that are for anything.
Error no_model(const ModelPurpose& purpose, const std::optional<NamedFolder>& usual) {
  std::string types;
  for (const Task task : purpose.tasks)
    types += (types.empty() ? "" : " or ") + std::string(pipelines::model_type(task));
  if (purpose.kind) types += " of " + std::string(to_string(*purpose.kind)) + " vectors";
  return make_error(ErrorCode::invalid_argument, "the request names no model, and this server has no ", types,
                    usual ? ": its default model, " + usual->name + ", is for something else" : std::string(),
                    "; GET /api/models lists what there is");
}

}  // namespace

bool ModelChoice::fits(const NamedFolder& model, Task task, const ModelPurpose& purpose) {
  const std::vector<Task> tasks = listings_.of(model).tasks;
  if (std::ranges::find(tasks, task) == tasks.end()) return false;
  return task != Task::embed || !purpose.kind || pipelines::kinds_of(model.path()).has(*purpose.kind);
}

std::vector<NamedFolder> ModelChoice::models_for(Task task, const ModelPurpose& purpose) {
  std::vector<NamedFolder> own, builtin;
  for (const NamedFolder& model : names_.all()) {
    if (fits(model, task, purpose)) (is_builtin(model) ? builtin : own).push_back(model);
  }
  return own.empty() && !names_.has_configured_default() ? builtin : own;
}

ModelChoice::Kept ModelChoice::make(const ModelPurpose& purpose, Clock::time_point since) {
  Kept made{.made = Clock::now(), .model = std::nullopt, .error = nullptr};
  try {
    made.model = names_.resolve({}, since);
  } catch (const Error& error) {
    made.error = std::current_exception();
    if (error.code() == ErrorCode::unavailable) return made;  // it is still being fetched
  }
  if (made.model && purpose.keeps_default) return made;
  const auto fits_usual = [&](Task task) { return fits(*made.model, task, purpose); };
  if (made.model && std::ranges::any_of(purpose.tasks, fits_usual)) return made;
  for (const Task task : purpose.tasks) {
    const std::vector<NamedFolder> models = models_for(task, purpose);
    if (models.empty()) continue;
    if (models.size() == 1) return {.made = made.made, .model = models.front(), .error = nullptr};
    return {.made = made.made, .model = std::nullopt, .error = std::make_exception_ptr(several_models(task, models))};
  }
  return {.made = made.made, .model = std::nullopt, .error = std::make_exception_ptr(no_model(purpose, made.model))};
}

NamedFolder ModelChoice::choose(const ModelPurpose& purpose, Clock::time_point since) {
  const std::string spelling = spelling_of(purpose);
  Kept kept;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(spelling); found != kept_.end()) kept = found->second;
  }
  if (Clock::now() - kept.made > kFresh || (!kept.model && kept.error == nullptr)) {
    kept = make(purpose, since);
    const std::lock_guard lock(mutex_);
    kept_.insert_or_assign(spelling, kept);
  }
  if (kept.model) return *kept.model;
  // Each gets an exception of its own: those who wait may add to what it says.
  try {
    std::rethrow_exception(kept.error);
  } catch (const Error& error) {
    throw Error(error);
  }
}

}  // namespace alate::server
