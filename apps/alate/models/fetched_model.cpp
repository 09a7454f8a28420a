#include "apps/alate/models/fetched_model.h"

#include <optional>
#include <string_view>
#include <system_error>

#include "alate/error.h"
#include "alate/hub.h"
#include "apps/alate/models/pull_progress.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/line_reader.h"
#include "base/files/descriptor_io.h"
#include "folders/hub_models.h"
#include "folders/packaged_models.h"
#include "hub/download/pull_reference.h"

namespace alate::app {
namespace {

namespace fs = std::filesystem;

void say(const CommonOptions& options, const std::string& line) {
  if (!options.quiet) write_to_descriptor(base::kStandardError, line + "\n", "standard error");
}

bool is_address(std::string_view reference) {
  return reference.starts_with("https://") || reference.starts_with("http://");
}

// Whether the reference itself says where the model is fetched from.
bool says_its_source(std::string_view reference) {
  return folders::find_packaged_model(reference) != nullptr || reference.starts_with(folders::kHubPrefix) ||
         is_address(reference);
}

// Of the address of a GGUF, the file if it was fetched before; of other references as find_model.
std::optional<fs::path> find_here(const CommonOptions& options, const std::string& reference) {
  std::string name = reference;
  std::string file;
  if (is_address(reference)) {
    const hub::PullReference parsed = hub::parse_pull_reference(reference);
    name = std::string(folders::kHubPrefix) + parsed.id + "@" + parsed.revision;
    file = parsed.file;
  }
  try {
    const fs::path found = find_model(options, name);
    std::error_code ignored;
    if (file.empty()) return found;
    return fs::is_regular_file(found / fs::path(file), ignored) ? std::optional(found / fs::path(file)) : std::nullopt;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found || !says_its_source(reference)) throw;
    return std::nullopt;
  }
}

// Terms that somebody at a terminal reads and accepts now.
bool accepts_now(const folders::PackagedModel& model) {
  if (!base::is_terminal(base::kStandardInput) || !base::is_terminal(base::kStandardError)) return false;
  const std::string question = std::string(model.title) + " is provided under and subject to the " +
                               std::string(model.licence) + " found at " + std::string(model.terms) +
                               ".\nHave you read them, and do you accept them? Type yes: ";
  write_to_descriptor(base::kStandardError, question, "standard error");
  LineReader lines;
  const auto answer = lines.next();
  return answer && *answer == "yes";
}

}  // namespace

void declare_terms(Arguments& arguments, bool& accepts) {
  arguments.flag("--accept-terms", "you have read and accept the terms of a model that is fetched and has some",
                 accepts);
}

bool accepts_terms_of(const CommonOptions& options, const std::string& reference, bool given) {
  const folders::PackagedModel* packaged = folders::find_packaged_model(reference);
  if (given || packaged == nullptr || packaged->terms.empty()) return given;
  return find_here(options, reference) || accepts_now(*packaged);
}

fs::path find_or_fetch_model(const CommonOptions& options, const std::string& reference, bool accepts_terms) {
  if (const std::optional<fs::path> here = find_here(options, reference)) return *here;
  PullOptions pull;
  if (options.offline) pull.offline = true;
  pull.models_dir = options.models_dir;
  pull.accept_terms = options.offline || accepts_terms_of(options, reference, accepts_terms);
  ShownProgress shown(options, false);
  pull.progress = [&](const PullProgress& at) { shown.show(at); };
  pull.planned = [&](const PulledModel& planned) { say(options, fetching_text(planned)); };
  const PulledModel pulled = pull_model(reference, pull);
  shown.end();
  // A variant of safetensors is found by its name.
  return pulled.model == pulled.folder && reference.starts_with(folders::kHubPrefix) ? find_model(options, reference)
                                                                                     : pulled.model;
}

}  // namespace alate::app
