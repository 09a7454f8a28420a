// alate rm
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/models/stored_models.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "base/byte_text.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "folders/model_removal.h"
#include "formats/json.h"

namespace alate::app {
namespace {

namespace fs = std::filesystem;

// A model in huggingface_hub's cache: all revisions, or the one that the reference names.
folders::Removal plan_in_cache(const folders::HubName& name, const fs::path& snapshot) {
  const fs::path folder = snapshot.parent_path().parent_path();
  const folders::CachedRepo repo(folder.parent_path(), *folders::hub_name_of(snapshot));
  if (!name.revision.empty()) return folders::plan_removal(repo, {snapshot.filename().string()});
  std::vector<std::string> all;
  for (folders::CachedRevision& each : repo.revisions()) all.push_back(std::move(each.commit));
  return folders::plan_removal(repo, all);
}

folders::Removal plan(const CommonOptions& options, const std::string& reference) {
  const std::string_view text = reference;
  if (!folders::split_variant(text).variant.empty())
    throw make_error(ErrorCode::unsupported, "rm removes whole models, or revisions of them, not variants: leave out ",
                     formats::quoted_name(folders::split_variant(text).variant));
  const fs::path path = find_model(options, reference);
  const StoredModel model = stored_model_at(options, reference, path);
  if (const auto fetched = folders::fetched_builtin_folder(); fetched && path.parent_path() == *fetched)
    return folders::plan_removal(path, *fetched);
  if (model.place == ModelPlace::builtin)
    throw make_error(ErrorCode::invalid_argument, formats::quoted_name(reference),
                     " came with the program, and goes with it");
  const auto cached = folders::hub_name_of(path);
  if (model.place == ModelPlace::hub_cache && cached) {
    const std::string_view plain =
        text.starts_with(folders::kHubPrefix) ? text.substr(folders::kHubPrefix.size()) : text;
    // A path of a snapshot is that revision.
    return plan_in_cache(folders::parse_hub_name(plain).value_or(folders::HubName{*cached, path.filename().string()}),
                         path);
  }
  if (!folders::is_model_folder(path))
    throw make_error(ErrorCode::invalid_argument, path.string(), " is not the folder of a model");
  if (model.place == ModelPlace::models_directory) return folders::plan_removal(path, models_directory(options));
  throw make_error(ErrorCode::invalid_argument, path.string(),
                   " is neither in the models directory nor in huggingface_hub's cache; remove it yourself");
}

std::string in_json(const std::string& model, const folders::Removal& removal, bool is_dry_run) {
  formats::Json::Array entries;
  for (const fs::path& entry : removal.entries) entries.emplace_back(entry.string());
  return formats::to_json_text(formats::Json::Object{
             {"model", model}, {"removed", !is_dry_run}, {"bytes", removal.bytes}, {"entries", std::move(entries)}}) +
         "\n";
}

std::string in_text(const std::string& model, const folders::Removal& removal, bool is_dry_run) {
  std::string text;
  if (is_dry_run) {
    for (const fs::path& entry : removal.entries) text += terminal_text(entry.string()) + "\n";
  }
  return text + (is_dry_run ? "would remove " : "removed ") + terminal_text(model) + ": " +
         base::byte_text(removal.bytes) + "\n";
}

}  // namespace

void run_rm(Arguments& arguments) {
  std::string model;
  bool is_dry_run = false;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  arguments.flag("--dry-run", "say what would be removed, and remove nothing", is_dry_run);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::models}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const folders::Removal removal = plan(options, model);
  if (!is_dry_run) folders::carry_out(removal);
  if (!options.quiet)
    output.write(format == OutputFormat::json ? in_json(model, removal, is_dry_run)
                                              : in_text(model, removal, is_dry_run));
  output.finish();
}

}  // namespace alate::app
