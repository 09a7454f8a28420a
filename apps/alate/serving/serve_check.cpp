#include "apps/alate/serving/serve_check.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>

#include "apps/alate/common_options.h"
#include "base/files/file_presence.h"
#include "base/log.h"
#include "base/os/environment.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "formats/json.h"
#include "net/tls.h"
#include "pipelines/check_loadable.h"
#include "pipelines/task_pipelines.h"
#include "search/index_file.h"
#include "server/models/model_index.h"
#include "server/models/model_names.h"
#include "server/pulls/download_rights.h"

namespace alate::app {
namespace {

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// The default folder is created with the first model; a folder named explicitly must exist.
bool is_usual(const std::filesystem::path& models_dir) {
  try {
    return models_dir == base::cache_directory() / "models";
  } catch (const Error&) {
    return false;
  }
}

void check_unix_socket(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!is_folder(folder))
    throw make_error(ErrorCode::not_found, "unix_socket: there is no folder ", folder.string(), "; make it first");
}

// A server goes on where the index of a running one is being built again, but begins with those that are there.
void check_index(const std::filesystem::path& folder) {
  const std::string remedy = "; alate index FILE… --out " + folder.string() + " makes one";
  if (!is_folder(folder)) throw make_error(ErrorCode::not_found, "there is no folder ", folder.string(), remedy);
  const std::filesystem::path file = folder / search::kIndexFile;
  if (!base::is_there(file))
    throw make_error(ErrorCode::not_found, "the folder ", folder.string(), " has no index (", search::kIndexFile, ")",
                     remedy);
  const search::IndexFile opened(file);
}

// The folders of the models that the settings name, by name; else of the only model there is. Names that mean nothing
// are left out: problems_of reports them.
std::map<std::string, std::filesystem::path> folders_to_load(const server::Settings& settings) {
  std::map<std::string, std::filesystem::path> folders;
  const auto add_folder = [&](const std::string& name, const std::filesystem::path& folder) {
    const bool is_there = std::ranges::any_of(folders, [&](const auto& each) { return each.second == folder; });
    if (!is_there) folders.emplace(name, folder);
  };
  const folders::ModelPlaces places = server::places_of(settings);
  const auto add = [&](const std::string& name, const auto& resolve) {
    try {
      add_folder(name, resolve(name, places));
    } catch (const Error& error) {
      base::log(base::LogLevel::debug, "model not checked", {{"model", name}, {"error", error.what()}});
    }
  };
  for (const std::string& name : settings.preload) add(name, folders::resolve_named_model);
  for (const auto& [name, strategy] : settings.model_strategies) add(name, folders::resolve_named_model);
  if (!settings.default_model.empty()) {
    add(settings.default_model, folders::resolve_model);
  } else if (const auto index = server::ModelIndex::read(places); index->default_model() != nullptr) {
    add_folder(index->default_model()->name, index->default_model()->folder);
  }
  return folders;
}

}  // namespace

std::vector<Error> unloadable_models(const server::Settings& settings, const runtime::LoadRequest& request) {
  std::vector<Error> problems;
  for (const auto& [name, folder] : folders_to_load(settings)) {
    try {
      pipelines::check_loadable(folder, request, pipelines::has_tokenizer(folder, request.options));
    } catch (const Error& error) {
      problems.push_back(error.with_context("the model " + formats::quoted_name(name) + " cannot be loaded"));
    }
  }
  return problems;
}

std::vector<Error> problems_of(const server::Settings& settings) {
  std::vector<Error> problems;
  const auto attempt = [&](std::string_view context, const std::function<void()>& check) {
    try {
      check();
    } catch (const Error& error) {
      problems.push_back(context.empty() ? error : error.with_context(context));
    }
  };
  if (!settings.tls_certificate.empty())
    attempt("tls", [&] { const net::TlsServer tls(settings.tls_certificate, settings.tls_key); });
  if (!settings.unix_socket.empty()) attempt("", [&] { check_unix_socket(settings.unix_socket); });

  const auto& folder = settings.models_dir;
  if (!folder.empty() && !is_folder(folder) && !is_usual(folder))
    attempt("", [&] { throw make_error(ErrorCode::not_found, "models_dir: there is no folder ", folder.string()); });
  const std::size_t before = problems.size();
  if (!settings.default_model.empty()) {
    server::Settings without_aliases = settings;
    without_aliases.aliases.clear();
    attempt("model", [&] { const server::ModelNames names(without_aliases); });
  }
  const bool model_is_there = problems.size() == before;
  // Aliases may stand for the default model, whose fault is not theirs.
  if (!settings.aliases.empty() && model_is_there) attempt("", [&] { const server::ModelNames names(settings); });
  for (const auto& [name, path] : settings.indexes) attempt("indexes: " + name, [&] { check_index(path); });
  const folders::ModelPlaces places = server::places_of(settings);
  for (const std::string& name : settings.preload) {
    attempt("preload", [&] {
      if (!name.starts_with(folders::kHubPrefix)) {
        folders::resolve_named_model(name, places);
      } else {
        server::configured_reference(name);  // it is fetched when the server starts
      }
    });
  }
  for (const auto& [name, strategy] : settings.model_strategies)
    attempt("model_strategies", [&] { folders::resolve_named_model(name, places); });
  return problems;
}

}  // namespace alate::app
