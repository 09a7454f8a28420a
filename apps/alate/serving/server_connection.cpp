#include "apps/alate/serving/server_connection.h"

#include "alate/error.h"
#include "server/clients/api_keys.h"
#include "server/http/http_client.h"
#include "server/settings/settings_loading.h"

namespace alate::app {
namespace {

constexpr int kUnauthorized = 401, kForbidden = 403, kNotFound = 404;

// Address at which a server with these settings can be reached from this machine.
server::ClientTarget target_of(const server::Settings& settings) {
  server::ClientTarget target;
  target.host = settings.host;
  if (settings.host == "0.0.0.0") target.host = "127.0.0.1";
  if (settings.host == "::") target.host = "::1";
  target.port = settings.port;
  if (!settings.listens_on_tcp) target.unix_socket = settings.unix_socket;
  target.tls = !settings.tls_certificate.empty();
  target.authorities_file = settings.tls_certificate;  // trusting the certificate itself is enough: the file is local
  return target;
}

// What the server says is wrong, of a route of its own.
std::string error_in(const server::ClientResponse& response) {
  try {
    return formats::parse_json(response.body, "the answer").get_string("error", "");
  } catch (const Error&) {
    return {};
  }
}

void check_status(const server::ClientResponse& response, const server::ClientTarget& target) {
  if (response.status == 200) return;
  const std::string place = "the server at " + server::to_string(target);
  if (response.status == kUnauthorized)
    throw make_error(ErrorCode::unauthenticated, place, " wants a key; give one with --api-key or ALATE_API_KEY");
  if (response.status == kForbidden)
    throw make_error(ErrorCode::unauthenticated, place,
                     " tells this only to administrators: give a key with the role admin with --api-key, or ask on the "
                     "server's own machine where it has no keys");
  const std::string said = error_in(response);
  if (response.status == kNotFound && !said.empty()) throw Error(ErrorCode::not_found, said);
  if (!said.empty()) throw make_error(ErrorCode::unavailable, place, ": ", said);
  throw make_error(ErrorCode::unavailable, place, " answered with status ", response.status,
                   "; --url names another server");
}

// The first key with the role admin, which the route requires; else the first key.
std::string key_of(const server::Settings& settings) {
  std::string first;
  for (const std::string& text : settings.api_keys) {
    const auto entry = server::parse_key_entry(text);
    if (!entry) continue;
    if (entry->role == server::KeyRole::admin) return std::string(entry->key);
    if (first.empty()) first = entry->key;
  }
  return first;
}

}  // namespace

void declare_server(Arguments& arguments, ServerOptions& options) {
  arguments.option("--url", "URL", "of the server; else the one that the settings describe", options.url);
  arguments.option("--api-key", "KEY", "that the server takes, with the role admin; else one of the settings",
                   options.key);
  arguments.option("--tls-ca", "FILE", "trust these authorities (PEM) instead of the machine's", options.authorities);
  arguments.flag("--insecure", "trust any certificate", options.insecure);
}

formats::Json ask_server(const ServerOptions& options, const CommonOptions& common, const ServerQuestion& question) {
  const server::Settings settings =
      server::load_settings({.options = {}, .environment = environment_variable, .file = common.configuration->file()})
          .settings;
  server::ClientTarget target = options.url.empty() ? target_of(settings) : server::parse_client_target(options.url);
  if (!options.authorities.empty()) target.authorities_file = options.authorities;
  target.insecure = options.insecure;
  const std::string key = options.key.empty() ? key_of(settings) : options.key;
  server::Headers headers;
  if (!key.empty()) headers.add("Authorization", "Bearer " + key);
  if (!question.body.empty()) headers.add("Content-Type", "application/json");
  const auto response = server::http_request(target, question.method, settings.base_path + std::string(question.path),
                                             headers, question.body, question.timeout);
  check_status(response, target);
  try {
    return formats::parse_json(response.body, "the answer of " + server::to_string(target));
  } catch (const Error& error) {
    throw Error(ErrorCode::unavailable, error.message() + "; --url names another server");
  }
}

}  // namespace alate::app
