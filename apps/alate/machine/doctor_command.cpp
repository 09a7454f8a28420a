// alate doctor
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/machine/backend_listing.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "machine/machine_facts.h"
#include "machine/machine_json.h"
#include "machine/machine_peaks.h"
#include "pipelines/check_loadable.h"
#include "pipelines/model_summary.h"
#include "pipelines/tasks/tasks.h"
#include "runtime/loading/model_needs.h"

namespace alate::app {

namespace {

// What would become of a model: where it would run, or the error that the command of its main task would end with.
struct Diagnosis {
  machine::ModelNeeds needs{.name = "any"};
  std::string type = {};  // as ModelSummary's
  std::vector<pipelines::Task> tasks = {};
  Selection selection;
  std::optional<Error> error = std::nullopt;
};

Diagnosis diagnose_any(const machine::Preferences& preferences, const machine::Machine& machine) {
  machine::Consideration result = machine::consider({.name = "any"}, preferences, machine);
  return {.selection = std::move(result.selection), .error = std::move(result.error)};
}

Diagnosis check(const std::filesystem::path& model, const runtime::LoadRequest& request) {
  Diagnosis diagnosis;
  diagnosis.needs.name = runtime::shown_name(model);
  diagnosis.tasks = pipelines::tasks_of(model, request.options);
  diagnosis.type = pipelines::summarize_model(model, {}).type;
  try {
    diagnosis.selection = pipelines::check_loadable(model, request);
  } catch (const Error& error) {
    diagnosis.error = error;
  }
  return diagnosis;
}

// Adds to an error what speaks against each backend.
void explain(Diagnosis& diagnosis, const std::filesystem::path& model, const runtime::LoadRequest& request,
             const machine::Machine& machine) {
  try {
    diagnosis.needs = runtime::model_needs(model, request.options.dtype);
  } catch (const Error&) {
    // Its files do not say what it needs; the backends are then considered for any model.
  }
  Selection possible = machine::consider(diagnosis.needs, runtime::preferences_of(request), machine).selection;
  // A backend may be able to run such a model, but none runs this one.
  diagnosis.selection.dtype = std::move(possible.dtype);
  diagnosis.selection.reason = diagnosis.error->what();
  diagnosis.selection.required_backends = std::move(possible.required_backends);
  diagnosis.selection.considered = std::move(possible.considered);
}

std::string tasks_listing(const Diagnosis& diagnosis) {
  if (diagnosis.type == "generator") return "\nTasks\n  generate  writes text: alate generate, alate chat\n";
  std::string text;
  for (const pipelines::Task task : diagnosis.tasks) {
    const std::string name(pipelines::to_string(task));
    text += "  ";
    text += name;
    text.append(10 - name.size(), ' ');
    text += pipelines::description(task);
    text += ": alate ";
    text += name;
    text += ", /api/";
    text += name;
    text += '\n';
  }
  return text.empty() ? text : "\nTasks\n" + text;
}

std::string doctor_json(const Diagnosis& diagnosis, const machine::Machine& machine, const machine::MachineFacts& facts,
                        const machine::MachinePeaks& peaks) {
  formats::Json::Array tasks;
  for (const pipelines::Task task : diagnosis.tasks) tasks.emplace_back(pipelines::to_string(task));
  formats::Json::Object object = {{"model", diagnosis.needs.name},
                                  {"type", diagnosis.type.empty() ? formats::Json() : formats::Json(diagnosis.type)},
                                  {"tasks", std::move(tasks)},
                                  {"selection", machine::to_json(diagnosis.selection)},
                                  {"machine", machine::to_json(facts)},
                                  {"peaks", machine::to_json(peaks)}};
  const formats::Json backends = machine::to_json(machine);
  for (const auto& [key, value] : backends.as_object("machine")) object.emplace_back(key, value);
  if (diagnosis.error) {
    object.emplace_back("error", formats::Json::Object{{"code", to_string(diagnosis.error->code())},
                                                       {"message", std::string(diagnosis.error->what())}});
  }
  return formats::to_json_text(object) + "\n";
}

}  // namespace

void run_doctor(Arguments& arguments) {
  std::string model;
  CommonOptions options;
  arguments.positional("MODEL", false, model);
  arguments.refuse_empty();
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::models, Shared::backends, Shared::dtype, Shared::threads}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const runtime::LoadRequest load = load_request(options);
  const std::filesystem::path path = model.empty() ? std::filesystem::path() : find_model(options, model);
  // Before all backends are discovered, as the command does it: its error names the ones that it looked at.
  Diagnosis diagnosis = model.empty() ? Diagnosis() : check(path, load);
  const machine::Machine machine = machine::discover();
  if (model.empty()) diagnosis = diagnose_any(runtime::preferences_of(load), machine);
  if (!model.empty() && diagnosis.error) explain(diagnosis, path, load, machine);
  const machine::MachineFacts facts = machine::machine_facts();
  const machine::MachinePeaks peaks = machine::measure_peaks();
  if (format == OutputFormat::json) {
    output.write(doctor_json(diagnosis, machine, facts, peaks));
  } else {
    output.write("Machine\n" + machine::facts_listing(facts) + "\nMeasured peaks\n" + machine::peaks_listing(peaks) +
                 "\nBackends\n" + backend_listing(machine) + "\nDecision for " +
                 (model.empty() ? "any model" : terminal_text(model)) + "\n" + selection_listing(diagnosis.selection) +
                 tasks_listing(diagnosis));
  }
  output.finish();
  if (diagnosis.error) throw *diagnosis.error;
}

}  // namespace alate::app
