// alate show
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/models/registry_option.h"
#include "apps/alate/models/stored_models.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "base/byte_text.h"
#include "folders/hub_models.h"
#include "formats/json.h"
#include "hub/registry/registry_reference.h"
#include "hub/remote/model_preview.h"
#include "machine/machine_json.h"
#include "pipelines/model_report.h"

namespace alate::app {
namespace {

using formats::Json;
using pipelines::ModelReport;
using pipelines::VariantReport;

std::string architecture_text(const ModelReport& report) {
  std::string text = report.summary.architecture;
  if (!report.class_name.empty()) text += (text.empty() ? "" : ", ") + report.class_name;
  return text;
}

Json memory_json(const ModelMemory& memory) {
  return Json::Object{{"bytes", memory.total()},
                      {"weights", memory.mapped_weights + memory.owned_weights},
                      {"activations", memory.activations},
                      {"inputs_and_outputs", memory.inputs_and_outputs},
                      {"batch_size", std::uint64_t{memory.batch_size}},
                      {"max_length", std::uint64_t{memory.max_length}}};
}

Json variant_json(const VariantReport& report) {
  Json::Object object = {{"name", report.variant.name},
                         {"format", report.variant.format},
                         {"file", report.variant.file},
                         {"bytes", report.bytes}};
  if (!report.refusal.empty()) object.emplace_back("refusal", report.refusal);
  return object;
}

// What is shown: a model on disk, or one on a server.
struct Subject {
  std::string name;
  std::string path;  // empty: it is not here
  std::string place;
  const hub::ModelPreview* remote = nullptr;
};

Json remote_json(const hub::ModelPreview& preview) {
  Json::Array files;
  for (const hub::PreviewFile& file : preview.files)
    files.push_back(Json::Object{{"name", file.name}, {"bytes", file.bytes}, {"pulled", file.is_pulled}});
  return Json::Object{{"server", preview.server},
                      {"revision", preview.revision},
                      {"commit", preview.commit},
                      {"gated", !preview.gated.empty()},
                      {"bytes_to_fetch", preview.bytes_to_fetch()},
                      {"files", std::move(files)},
                      {"not_looked_at", Json::Array(preview.notes.begin(), preview.notes.end())}};
}

std::string in_json(const Subject& model, const ModelReport& report) {
  Json::Array tasks, variants;
  for (const pipelines::Task task : report.summary.tasks) tasks.emplace_back(pipelines::to_string(task));
  for (const VariantReport& each : report.variants) variants.push_back(variant_json(each));
  Json::Object object = {{"name", model.name},
                         {"path", model.path.empty() ? Json() : Json(model.path)},
                         {"place", model.place},
                         {"type", report.summary.type.empty() ? Json() : Json(report.summary.type)},
                         {"tasks", std::move(tasks)},
                         {"architecture", report.summary.architecture},
                         {"class", report.class_name},
                         {"runs", !report.error},
                         {"dtype", report.summary.dtype},
                         {"parameters", std::uint64_t{report.summary.parameters}},
                         {"dimensions", std::uint64_t{report.summary.dimensions}},
                         {"max_length", std::uint64_t{report.summary.max_length}},
                         {"bytes", std::uint64_t{report.summary.bytes}},
                         {"variants", std::move(variants)},
                         {"selection", report.error ? Json() : machine::to_json(report.selection)},
                         {"memory", report.memory ? memory_json(*report.memory) : Json()},
                         {"licence", report.licence},
                         {"description", report.manifest.description},
                         {"refused", Json::Array(report.refused.begin(), report.refused.end())}};
  if (report.decoder) {
    object.emplace_back("context", std::uint64_t{report.decoder->context});
    object.emplace_back("cache_bytes_per_token", std::uint64_t{report.decoder->cache_bytes_per_token});
    object.emplace_back("has_chat_template", report.decoder->has_chat_template);
  }
  if (model.remote != nullptr) object.emplace_back("remote", remote_json(*model.remote));
  if (report.error)
    object.emplace_back("error", Json::Object{{"code", to_string(report.error->code())},
                                              {"message", std::string(report.error->message())}});
  return formats::to_json_text(object) + "\n";
}

constexpr std::size_t kColumn = 14;

// Nothing for an empty value, as of a model that does not state it.
std::string line(std::string name, const std::string& value) {
  if (value.empty()) return {};
  name.resize(std::max(name.size() + 1, kColumn), ' ');
  return name + terminal_text(value) + "\n";
}

std::string task_text(const ModelReport& report) {
  if (report.summary.type == "generator") return "generator, writes text: alate generate";
  std::string text;
  for (const pipelines::Task task : report.summary.tasks) {
    text += (text.empty() ? "" : "; ") + std::string(pipelines::model_type(task)) + ", " +
            std::string(pipelines::description(task)) + ": alate " + std::string(pipelines::to_string(task));
  }
  return text;
}

std::string sizes_text(const pipelines::ModelSummary& summary) {
  if (summary.parameters == 0) return summary.dtype;
  return summary.dtype + ", " + std::to_string(summary.parameters) + " parameters";
}

std::string variant_text(const VariantReport& report) {
  std::string text = report.variant.name.empty() ? "(default)" : report.variant.name;
  text += ": " + report.variant.format + ", " + report.variant.file + ", " + base::byte_text(report.bytes);
  return report.refusal.empty() ? text : text + "; not loaded: " + report.refusal;
}

std::string memory_text(const ModelMemory& memory) {
  return base::byte_text(memory.total()) + ": weights " +
         base::byte_text(memory.mapped_weights + memory.owned_weights) + ", a run of " +
         std::to_string(memory.rows_at_once) + " texts of " + std::to_string(memory.max_length) + " tokens " +
         base::byte_text(memory.activations + memory.inputs_and_outputs);
}

std::string decoder_lines(const pipelines::DecoderReport& decoder) {
  return line("context", std::to_string(decoder.context) + " tokens") +
         line("cache", base::byte_text(decoder.cache_bytes_per_token) + " a token, " +
                           base::byte_text(decoder.cache_bytes_per_token * decoder.context) +
                           " for the whole context") +
         line("chat template", decoder.has_chat_template ? "yes: alate chat" : "no: alate generate continues texts");
}

std::string to_fetch_text(const hub::ModelPreview& preview) {
  const auto count = std::ranges::count_if(preview.files, &hub::PreviewFile::is_pulled);
  return std::to_string(count) + " of " + std::to_string(preview.files.size()) + " files, " +
         base::byte_text(preview.bytes_to_fetch());
}

std::string remote_text(const hub::ModelPreview& preview) {
  std::string text =
      line("server", preview.server) + line("commit", preview.commit) + line("to fetch", to_fetch_text(preview)) +
      line("gated", preview.gated.empty() ? "" : "yes (" + preview.gated + "): its licence must be accepted");
  std::string name = "not looked at";
  for (const std::string& each : preview.notes) text += line(std::exchange(name, " "), each);
  return text;
}

std::string in_text(const Subject& model, const ModelReport& report) {
  std::string text = line("name", model.name) + line("path", model.path) + line("place", model.place) +
                     (model.remote != nullptr ? remote_text(*model.remote) : "") + line("task", task_text(report)) +
                     line("architecture", architecture_text(report)) +
                     line("runs here", report.error ? "no: " + std::string(report.error->message()) : "yes") +
                     line("dtype", sizes_text(report.summary)) + line("size", base::byte_text(report.summary.bytes));
  std::string name = "variants";
  for (const VariantReport& each : report.variants) text += line(std::exchange(name, " "), variant_text(each));
  if (!report.error) {
    const Selection& chosen = report.selection;
    text += line("backend",
                 chosen.backend + ":" + chosen.device + ", computes in " + chosen.dtype + ": it is " + chosen.reason);
  }
  if (report.decoder) text += decoder_lines(*report.decoder);
  if (report.memory) text += line("memory", memory_text(*report.memory));
  text += line("licence", report.licence) + line("description", report.manifest.description);
  name = "not used";
  for (const std::string& each : report.refused) text += line(std::exchange(name, " "), each);
  return text;
}

// Errors of a model that is looked at in a temporary folder name that folder.
void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

ModelReport report_on_preview(const hub::ModelPreview& preview, const runtime::LoadRequest& request) {
  ModelReport report = pipelines::report_on_model(
      preview.model, request, {.has_tokenizer = preview.has_tokenizer, .has_weights = preview.has_weights});
  const auto named = [&](std::string text) {
    replace_all(text, preview.folder().string(), preview.id);
    return text;
  };
  if (preview.refusal) report.error = preview.refusal;
  if (report.error) report.error = Error(report.error->code(), named(std::string(report.error->message())));
  for (VariantReport& each : report.variants) each.refusal = named(each.refusal);
  for (std::string& each : report.refused) each = named(each);
  report.summary.bytes = preview.bytes_to_fetch();
  if (report.licence.empty()) report.licence = preview.licence;
  return report;
}

// A name is looked for here first; an address, and a name with "registry:", are of elsewhere.
bool is_to_be_fetched(const CommonOptions& options, const std::string& reference, const std::string& registry) {
  if (!hub::is_remote_reference(reference, registry)) return false;
  constexpr std::array<std::string_view, 4> kElsewhere = {hub::kRegistryPrefix, "http:", "https:", "file:"};
  const auto begins = [&](std::string_view prefix) { return reference.starts_with(prefix); };
  if (std::ranges::any_of(kElsewhere, begins)) return true;
  try {
    (void)find_model(options, reference);
    return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return true;
  }
}

}  // namespace

void run_show(Arguments& arguments) {
  std::string reference;
  CommonOptions options;
  PullOptions remote;
  bool is_remote = false;
  arguments.positional("MODEL", true, reference);
  arguments.flag("--remote", "look at the model on the hub, also if it is here", is_remote);
  declare_registry(arguments, remote.registry);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::models, Shared::backends, Shared::dtype}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const auto write = [&](const Subject& subject, const ModelReport& report) {
    output.write(format == OutputFormat::json ? in_json(subject, report) : in_text(subject, report));
    output.finish();
  };
  if (is_remote || is_to_be_fetched(options, reference, remote.registry)) {
    if (options.offline) remote.offline = true;
    const hub::ModelPreview preview = hub::preview_model(reference, remote);
    const bool is_registry = hub::is_registry_reference(reference, remote.registry);
    const ModelReport report = report_on_preview(preview, load_request(options));
    return write({.name = preview.id, .path = {}, .place = is_registry ? "registry" : "hub", .remote = &preview},
                 report);
  }
  const std::filesystem::path path = find_model(options, reference);
  const StoredModel model = stored_model_at(options, reference, path);
  write({.name = model.name, .path = model.folder.string(), .place = std::string(to_string(model.place))},
        pipelines::report_on_model(path, load_request(options)));
}

}  // namespace alate::app
