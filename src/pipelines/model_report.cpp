#include "pipelines/model_report.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "alate/chat_template.h"
#include "base/ascii_case.h"
#include "folders/model_licence.h"
#include "folders/model_variants.h"
#include "machine/discovery.h"
#include "models/encoder.h"
#include "models/inputs/page_inputs.h"
#include "models/refused_architectures.h"
#include "pipelines/check_loadable.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_files.h"
#include "runtime/loading/model_form.h"
#include "runtime/loading/model_needs.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

// No model has more; a larger folder is not read to the end.
constexpr std::size_t kMostNames = 10'000;

// Runs a part of the report; what it throws is the report's error, unless there is one already.
template <typename Part>
void attempt(ModelReport& report, const Part& part) {
  try {
    part();
  } catch (const Error& error) {
    if (!report.error) report.error = error;
  }
}

fs::path folder_of(const fs::path& model) {
  std::error_code ignored;
  if (fs::is_directory(model, ignored)) return model;
  try {
    return runtime::find_model_files(model).home;
  } catch (const Error&) {
    return model.parent_path();
  }
}

std::uint64_t bytes_of(const folders::ModelVariant& variant, const std::vector<FolderFile>& files) {
  std::uint64_t bytes = 0;
  for (const FolderFile& file : files) {
    if (std::ranges::find(variant.files, file.name) != variant.files.end()) bytes += file.bytes;
  }
  return bytes;
}

// Of a GGUF that is named by its path: it with its parts, since what lies beside it may be of other models.
std::vector<FolderFile> files_of(const fs::path& model, const fs::path& folder) {
  if (model == folder || base::ascii_lower(model.extension().string()) != ".gguf") return files_of_model(folder);
  const std::string name = model.filename().string();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entries(model.parent_path().empty() ? "." : model.parent_path(), error);
       !error && entries != fs::directory_iterator() && names.size() < kMostNames; entries.increment(error))
    names.push_back(entries->path().filename().string());
  std::vector<std::string> parts = {name};
  for (const folders::ModelVariant& variant : folders::variants_of_names(names)) {
    if (variant.file == name) parts = variant.files;
  }
  std::vector<FolderFile> files;
  for (const std::string& part : parts) {
    const fs::path path = model.parent_path() / fs::path(part);
    const std::uintmax_t bytes = fs::file_size(path, error);
    const fs::file_time_type modified = error ? fs::file_time_type() : fs::last_write_time(path, error);
    if (!error) files.push_back({part, static_cast<std::size_t>(bytes), modified});
  }
  return files;
}

// `is_of_file`: one of the folder's GGUF files was named, and `files` are those of it.
std::vector<VariantReport> variants_of(const fs::path& folder, const std::vector<FolderFile>& files, bool is_of_file) {
  std::vector<VariantReport> reports;
  for (folders::ModelVariant& variant : folders::list_variants(folder)) {
    const auto is_listed = [&](const FolderFile& file) {
      return std::ranges::find(variant.files, file.name) != variant.files.end();
    };
    if (is_of_file && std::ranges::none_of(files, is_listed)) continue;
    VariantReport report{.variant = std::move(variant), .bytes = 0, .refusal = {}};
    report.bytes = bytes_of(report.variant, files);
    try {
      const fs::path file = folders::variant_file(folder, report.variant, folder.filename().string());
      if (report.variant.format == "gguf") (void)runtime::read_config(runtime::find_model_files(file));
    } catch (const Error& error) {
      report.refusal = error.message();
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

// Code that config.json names: transformers would ask before it runs it.
void add_own_code(const formats::Json& config, ModelReport& report) {
  const std::string code = models::own_code(config);
  if (code.empty()) return;
  try {
    const models::Architecture& architecture = models::find_architecture(config);
    const bool is_known = !architecture.own_code.empty() && code.find(architecture.own_code) != std::string::npos;
    report.refused.push_back("code of the model (" + code + ") is not run: " +
                             (is_known ? "the same is computed here" : "it is computed as transformers' class is"));
  } catch (const Error&) {
    report.refused.push_back("code of the model (" + code + ") is not run, and its architecture is not known here");
  }
}

void add_config(const runtime::ModelFiles& files, ModelReport& report) {
  const formats::Json config = runtime::read_config(files);
  if (!config.is_object()) return;
  const formats::Json* classes = config.find_value("architectures");
  if (classes != nullptr && classes->is_array() && !classes->as_array("architectures").empty()) {
    const formats::Json& first = classes->as_array("architectures").front();
    if (first.is_string()) report.class_name = first.as_string("architectures");
  }
  add_own_code(config, report);
}

void choose_backend_for(const machine::ModelNeeds& needs, const runtime::LoadRequest& request, ModelReport& report) {
  const machine::Preferences preferences = runtime::preferences_of(request);
  machine::Consideration result = machine::consider(needs, preferences, machine::discover_for(preferences, needs));
  report.selection = std::move(result.selection);
  if (result.error) throw *result.error;
}

void choose_backend(const fs::path& model, const runtime::ModelFiles& files, const runtime::LoadRequest& request,
                    const ReportScope& scope, ModelReport& report) {
  if (files.is_onnx()) return choose_backend_for(runtime::model_needs(model, request.options.dtype), request, report);
  if (scope.has_weights) {
    report.selection = check_loadable(model, request, scope.has_tokenizer);
    return;
  }
  const formats::Json config = runtime::read_config(files);
  (void)models::find_head(models::find_architecture(config), config);
  choose_backend_for({.name = runtime::shown_name(model), .backends = report.manifest.backends}, request, report);
}

bool has_chat_template(const runtime::ModelFiles& files) {
  try {
    (void)ChatTemplate::load(files.tokenizer());
    return true;
  } catch (const Error&) {
    return false;
  }
}

DecoderReport report_on_decoder(const fs::path& model, const runtime::ModelFiles& files,
                                const runtime::LoadRequest& request) {
  runtime::LoadWatch unwatched;
  const std::shared_ptr<const Model::State> state = Model::State::read(model, request, unwatched);
  const runtime::BuiltStep built = state->form->build_step(*state, base::Cancellation::never());
  return {.context = static_cast<std::size_t>(state->limits().positions),
          .cache_bytes_per_token = models::bytes_per_token(built.layout),
          .has_chat_template = has_chat_template(files)};
}

}  // namespace

ModelReport report_on_model(const fs::path& model, const runtime::LoadRequest& request, const ReportScope& scope) {
  ModelReport report;
  const fs::path folder = folder_of(model);
  const std::vector<FolderFile> listed = files_of(model, folder);
  report.summary = summarize_model(model, listed);
  attempt(report, [&] { report.manifest = folders::read_manifest(folder); });
  attempt(report, [&] { report.variants = variants_of(folder, listed, model != folder); });
  report.licence = folders::model_licence(folder, report.manifest);
  runtime::ModelFiles files;
  attempt(report, [&] {
    files = runtime::find_model_files(model);
    add_config(files, report);
  });
  attempt(report, [&] { choose_backend(model, files, request, scope, report); });
  if (report.error || files.is_onnx() || !scope.has_weights) return report;
  const std::string& backend = report.selection.backend;
  attempt(report, [&] {
    report.memory = estimate_model_memory(
        model, {.backend = BackendPlace(backend, report.selection.device), .dtype = request.options.dtype});
  });
  if (report.summary.type == "generator")
    attempt(report, [&] { report.decoder = report_on_decoder(model, files, request); });
  return report;
}

}  // namespace alate::pipelines
