#include "apps/alate/models/remote_list.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "apps/alate/field_text.h"
#include "base/byte_text.h"
#include "base/log.h"
#include "formats/json.h"

namespace alate::app {
namespace {

using formats::Json;

using RemoteFields = std::vector<std::string>;

bool is_of_registry(const ModelSearchOptions& search) { return search.in_registry || !search.registry.empty(); }

std::string runs_text(const FoundModel& model) {
  if (model.is_other_kind) return "no";
  return model.runs ? (*model.runs ? "yes" : "no") : "not known";
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : ",") + each;
  return text;
}

RemoteFields head_of(bool is_registry) {
  return is_registry ? RemoteFields{"NAME", "TYPE", "VARIANTS", "SIZE", "RUNS"}
                     : RemoteFields{"NAME",  "TYPE",      "TASK",  "ARCHITECTURE", "PARAMETERS",
                                    "DTYPE", "DOWNLOADS", "GATED", "RUNS"};
}

// "22.7M"
std::string short_count(std::uint64_t count) {
  if (count < 1000) return std::to_string(count);
  constexpr std::string_view kUnits = "KMGT";
  std::uint64_t tenths = count / 100;
  std::size_t unit = 0;
  for (; tenths >= 10'000 && unit + 1 < kUnits.size(); ++unit) tenths /= 1000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + kUnits[unit];
}

RemoteFields fields_of_found(const FoundModel& model, bool is_registry, bool is_exact) {
  const auto count = [&](std::uint64_t number) {
    return number == 0 ? std::string() : is_exact ? std::to_string(number) : short_count(number);
  };
  const std::string& type = model.type.empty() ? model.task : model.type;
  if (is_registry) {
    const std::string bytes = !model.bytes ? std::string()
                              : is_exact   ? std::to_string(*model.bytes)
                                           : base::byte_text(*model.bytes);
    return {model.id, type, joined_words(model.variants), bytes, runs_text(model)};
  }
  return {model.id,
          type,
          model.task,
          model.architecture,
          count(model.parameters),
          model.dtype,
          count(model.downloads),
          model.gated.empty() ? "no" : model.gated,
          runs_text(model)};
}

Json found_json(const FoundModel& model) {
  Json::Object object = {{"name", model.id},
                         {"type", model.type},
                         {"task", model.task},
                         {"library", model.library},
                         {"architecture", model.architecture},
                         {"description", model.description},
                         {"dtype", model.dtype},
                         {"parameters", model.parameters},
                         {"downloads", model.downloads},
                         {"bytes", model.bytes ? Json(*model.bytes) : Json()},
                         {"variants", Json::Array(model.variants.begin(), model.variants.end())},
                         {"gated", !model.gated.empty()}};
  const bool cannot_run = model.is_other_kind || !model.runs.value_or(true);
  object.emplace_back("runs", cannot_run ? Json(false) : model.runs ? Json(true) : Json());
  return object;
}

std::string remote_table(const FoundModels& found, bool is_registry) {
  std::vector<RemoteFields> rows = {head_of(is_registry)};
  for (const FoundModel& model : found.models) {
    rows.push_back(fields_of_found(model, is_registry, false));
    for (std::string& field : rows.back()) field = field.empty() ? "-" : terminal_text(field);
  }
  return text_table(rows);
}

std::string remote_csv(const FoundModels& found, bool is_registry) {
  std::string text = is_registry ? "name,type,variants,bytes,runs\n"
                                 : "name,type,task,architecture,parameters,dtype,downloads,gated,runs\n";
  for (const FoundModel& model : found.models) {
    std::string line;
    for (const std::string& field : fields_of_found(model, is_registry, true))
      line += (line.empty() ? "" : ",") + csv_field(field);
    text += line + "\n";
  }
  return text;
}

std::string remote_json(const FoundModels& found, bool is_lines) {
  Json::Array models;
  std::string lines;
  for (const FoundModel& model : found.models) {
    if (is_lines) lines += formats::to_json_text(found_json(model)) + "\n";
    models.push_back(found_json(model));
  }
  if (is_lines) return lines;
  return formats::to_json_text(Json::Object{{"place", found.place},
                                            {"models", std::move(models)},
                                            {"other_kinds", std::uint64_t{found.other_kinds}},
                                            {"further", std::uint64_t{found.further}}}) +
         "\n";
}

void report_left_out(const FoundModels& found) {
  if (found.other_kinds > 0)
    base::log(base::LogLevel::warn, "models that do not run here are left out; --all-kinds shows them",
              {{"of", found.place}, {"models", std::to_string(found.other_kinds)}},
              std::to_string(found.other_kinds) + " models of " + found.place +
                  " do not run here and are left out; --all-kinds shows them");
  if (found.further > 0)
    base::log(base::LogLevel::warn, "there are more models; --limit shows them",
              {{"of", found.place}, {"models", std::to_string(found.further)}},
              found.place + " has " + std::to_string(found.further) + " more; --limit shows them");
}

}  // namespace

std::string list_remote(const RemoteList& list) {
  const FoundModels found = search_models(list.search);
  report_left_out(found);
  const bool is_registry = is_of_registry(list.search);
  if (list.format == OutputFormat::text) return remote_table(found, is_registry);
  if (list.format == OutputFormat::csv) return remote_csv(found, is_registry);
  return remote_json(found, list.format == OutputFormat::jsonl);
}

}  // namespace alate::app
