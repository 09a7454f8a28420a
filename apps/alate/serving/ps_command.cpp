// alate ps
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/serving/server_connection.h"
#include "apps/alate/verb.h"
#include "formats/json.h"

namespace alate::app {
namespace {

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

}  // namespace

void run_ps(Arguments& arguments) {
  ServerOptions server;
  CommonOptions options;
  declare_server(arguments, server);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const formats::Json body = ask_server(server, options, {.method = "GET", .path = "/api/ps"});
  const std::string table = table_of(body);
  output.write(format == OutputFormat::json ? formats::to_json_text(body) + "\n" : table);
  output.finish();
}

}  // namespace alate::app
