// alate load, alate unload
#include <chrono>
#include <string>
#include <utility>

#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/serving/server_connection.h"
#include "apps/alate/verb.h"
#include "formats/json.h"

namespace alate::app {
namespace {

// A large model is read from a slow disk.
constexpr std::chrono::seconds kLoadTimeout = std::chrono::minutes(10);

struct ModelOptions {
  std::string model, keep_alive;
};

void ask_for(Arguments& arguments, std::string_view path, bool loads) {
  ServerOptions server;
  CommonOptions options;
  ModelOptions wanted;
  arguments.positional("MODEL", true, wanted.model);
  if (loads)
    arguments.option("--for", "TIME", "how long it stays without a request: 10m, 1h; -1s: as long as the server allows",
                     wanted.keep_alive);
  declare_server(arguments, server);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  formats::Json::Object body{{"model", wanted.model}};
  if (!wanted.keep_alive.empty()) body.emplace_back("keep_alive", wanted.keep_alive);
  const formats::Json answer = ask_server(
      server, options,
      {.method = "POST", .path = path, .body = formats::to_json_text(std::move(body)), .timeout = kLoadTimeout});
  if (format == OutputFormat::json) output.write(formats::to_json_text(answer) + "\n");
  output.finish();
}

}  // namespace

void run_load(Arguments& arguments) { ask_for(arguments, "/api/load", true); }

void run_unload(Arguments& arguments) { ask_for(arguments, "/api/unload", false); }

}  // namespace alate::app
