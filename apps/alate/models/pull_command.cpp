// alate pull
#include <algorithm>
#include <string>
#include <vector>

#include "alate/hub.h"
#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/models/fetched_model.h"
#include "apps/alate/models/pull_progress.h"
#include "apps/alate/models/registry_option.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "base/byte_text.h"
#include "base/files/descriptor_io.h"
#include "formats/json.h"

namespace alate::app {
namespace {

using formats::Json;

Json to_json(const PulledModel& model, bool is_dry) {
  Json::Array files;
  for (const PulledFile& file : model.files)
    files.push_back(Json::Object{{"name", file.name}, {"bytes", file.bytes}, {"was_there", file.was_there}});
  return Json::Object{{"model", model.id},
                      {"revision", model.revision},
                      {"commit", model.commit},
                      {"folder", model.folder.string()},
                      {"path", model.model.string()},
                      {is_dry ? "bytes_to_fetch" : "fetched_bytes", model.fetched_bytes},
                      {"files", std::move(files)}};
}

std::string to_text(const PulledModel& model, bool is_dry) {
  std::string text;
  const std::string folder = terminal_text(model.folder.string());
  if (is_dry) {
    for (const PulledFile& file : model.files)
      text += (file.was_there ? "there  " : "fetch  ") + base::byte_text(file.bytes) + "  " + terminal_text(file.name) +
              "\n";
  }
  const auto is_new = [](const PulledFile& file) { return !file.was_there; };
  const auto fetched = std::ranges::count_if(model.files, is_new);
  text += model.id + ": " + std::to_string(fetched) + " of " + std::to_string(model.files.size()) + " files (" +
          base::byte_text(model.fetched_bytes) + ")" + (is_dry ? " would be fetched to " : " fetched; they are in ") +
          folder + "\n";
  return text;
}

}  // namespace

void run_pull(Arguments& arguments) {
  std::vector<std::string> references;
  PullOptions pull;
  CommonOptions options;
  bool hides_progress = false;
  arguments.positionals("MODEL", references);
  arguments.repeated("--include", "PATTERN", "take these files in place of those that a run needs; repeatable",
                     pull.include);
  arguments.repeated("--exclude", "PATTERN", "leave these files out; repeatable", pull.exclude);
  arguments.list("--variants", "NAME,NAME",
                 "these forms of the weights: int8, f16; of a registry's model f32 is the usual", pull.variants);
  arguments.flag("--all", "take every file of the model", pull.all);
  arguments.flag("--dry-run", "say what would be fetched, and fetch nothing", pull.dry_run);
  std::string mirror;
  arguments.option("--mirror", "DIR",
                   "also copy the files there, for `alate pull file:DIR/owner/name` without a network", mirror);
  declare_registry(arguments, pull.registry);
  declare_terms(arguments, pull.accept_terms);
  declare_progress(arguments, hides_progress);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl};
  declare(arguments, options, {Shared::models}, written);
  if (!arguments.parse()) return;
  apply(options);
  if (references.empty()) throw arguments.usage_error("pull needs a MODEL: hf:owner/name, or builtin:smollm2");
  const OutputFormat format = output_format(options, written);
  if (options.offline) pull.offline = true;
  pull.models_dir = options.models_dir;
  pull.mirror = mirror;
  Output output(options.out);
  const bool accepts = pull.accept_terms;
  for (const std::string& reference : references) {
    pull.accept_terms = pull.dry_run || options.offline || accepts_terms_of(options, reference, accepts);
    ShownProgress shown(options, hides_progress);
    pull.progress = [&](const PullProgress& at) { shown.show(at); };
    // For the person who waits; a script has the report at the end.
    if (!options.quiet && base::is_terminal(base::kStandardError))
      pull.planned = [](const PulledModel& planned) {
        write_to_descriptor(base::kStandardError, fetching_text(planned) + "\n", "standard error");
      };
    const PulledModel model = pull_model(reference, pull);
    shown.end();
    if (options.quiet) continue;
    output.write(format == OutputFormat::text ? to_text(model, pull.dry_run)
                                              : formats::to_json_text(to_json(model, pull.dry_run)) + "\n");
  }
  output.finish();
}

}  // namespace alate::app
