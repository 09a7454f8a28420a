#include "apps/alate/serving/serve_check.h"

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include "apps/alate/common_options.h"
#include "base/os/environment.h"
#include "hub/model_reference.h"
#include "server/http/tls.h"

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

}  // namespace

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
    attempt("tls", [&] { const server::TlsServer tls(settings.tls_certificate, settings.tls_key); });
  if (!settings.unix_socket.empty()) attempt("", [&] { check_unix_socket(settings.unix_socket); });

  const auto& folder = settings.models_dir;
  if (!folder.empty() && !is_folder(folder) && !is_usual(folder))
    attempt("", [&] { throw make_error(ErrorCode::not_found, "models_dir: there is no folder ", folder.string()); });
  const auto& model = settings.default_model;
  std::error_code error;
  if (!model.empty() && !std::filesystem::exists(model, error))
    attempt("model", [&] { hub::resolve_model(model, folder); });
  for (const std::string& name : settings.preload) attempt("preload", [&] { hub::resolve_named_model(name, folder); });
  for (const auto& [name, strategy] : settings.model_strategies)
    attempt("model_strategies", [&] { hub::resolve_named_model(name, folder); });
  return problems;
}

}  // namespace alate::app
