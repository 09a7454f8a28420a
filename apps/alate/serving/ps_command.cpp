// alate ps
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "server/clients/api_keys.h"
#include "server/http/http_client.h"
#include "server/settings/settings_loading.h"

namespace alate::app {
namespace {

constexpr auto kTimeout = std::chrono::seconds(10);
constexpr int kUnauthorized = 401, kForbidden = 403;

struct PsOptions {
  std::string url, key, authorities;
  bool insecure = false;
};

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

std::string in_megabytes(const formats::Json& model) {
  const formats::Json* size = model.find("size");
  if (size == nullptr || !size->is_number()) return "-";
  const auto tenths = static_cast<std::int64_t>(size->as_double("size") / 1e5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

// Reads members of an answer that may come from another version: missing ones become "-".
std::string text_member(const formats::Json& model, std::string_view key) {
  const formats::Json* member = model.find(key);
  if (member == nullptr || member->is_null()) return "-";
  if (member->is_string()) return member->as_string(key).empty() ? "-" : member->as_string(key);
  return formats::to_json_text(*member);
}

std::string queue_of(const formats::Json& model) {
  const formats::Json* queue = model.find("queue");
  return queue != nullptr && queue->is_object() ? text_member(*queue, "jobs") : text_member(model, "queue");
}

// "2026-11-21T15:04:05.123Z" without the fraction. Clients of Ollama treat a year in the far future, or year 1, as
// never.
std::string until(const formats::Json& model) {
  const std::string time = text_member(model, "expires_at");
  if (time == "-" || time.starts_with("0001-") || time > "2200") return "it is unloaded";
  return time.substr(0, std::min<std::size_t>(time.find('.'), 19)) + (time.ends_with('Z') ? "Z" : "");
}

std::string table_of(const formats::Json& body) {
  std::vector<std::array<std::string, 6>> rows = {{"NAME", "BACKEND", "DTYPE", "MEMORY", "QUEUE", "UNTIL"}};
  const formats::Json* models = body.find("models");
  if (models == nullptr || !models->is_array())
    throw make_error(ErrorCode::unavailable, "this answer is not that of an Alate server; give its address with --url");
  for (const formats::Json& model : models->as_array("models")) {
    rows.push_back({text_member(model, "name"), text_member(model, "backend"), text_member(model, "dtype"),
                    in_megabytes(model), queue_of(model), until(model)});
  }
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      // Names come from another program; they must not control the terminal.
      for (const char c : row[i]) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
      out += std::string(widths[i] + 2 - row[i].size(), ' ');
    }
    out += row.back() + "\n";
  }
  return out;
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

void run_ps(Arguments& arguments) {
  PsOptions ps;
  CommonOptions options;
  arguments.option("--url", "URL", "of the server; else the one that the settings describe", ps.url);
  arguments.option("--api-key", "KEY", "that the server takes, with the role admin; else one of the settings", ps.key);
  arguments.option("--tls-ca", "FILE", "trust these authorities (PEM) instead of the machine's", ps.authorities);
  arguments.flag("--insecure", "trust any certificate", ps.insecure);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);

  const server::Settings settings =
      server::load_settings({.options = {}, .environment = environment_variable, .file = options.configuration->file()})
          .settings;
  server::ClientTarget target = ps.url.empty() ? target_of(settings) : server::parse_client_target(ps.url);
  if (!ps.authorities.empty()) target.authorities_file = ps.authorities;
  target.insecure = ps.insecure;
  if (ps.key.empty()) ps.key = key_of(settings);
  server::Headers headers;
  if (!ps.key.empty()) headers.add("Authorization", "Bearer " + ps.key);

  const auto response = server::http_request(target, "GET", settings.base_path + "/api/ps", headers, "", kTimeout);
  check_status(response, target);
  formats::Json body;
  try {
    body = formats::parse_json(response.body, "the answer of " + server::to_string(target));
  } catch (const Error& error) {
    throw Error(ErrorCode::unavailable, error.message() + "; --url names another server");
  }
  const std::string table = table_of(body);
  output.write(format == OutputFormat::json ? formats::to_json_text(body) + "\n" : table);
  output.finish();
}

}  // namespace alate::app
