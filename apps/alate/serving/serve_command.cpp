// alate serve
#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/configuration.h"
#include "apps/alate/generate/chat_command.h"
#include "apps/alate/program_version.h"
#include "apps/alate/serving/serve_check.h"
#include "apps/alate/verb.h"
#include "base/files/descriptor_io.h"
#include "base/log.h"
#include "base/os/heap.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "runtime/loading/loaded_model.h"
#include "server/application.h"
#include "server/clients/web_origins.h"
#include "server/settings/settings_loading.h"

namespace alate::app {
namespace {

struct ServeOptions {
  std::string model;
  Configuration configuration;
  bool only_checks = false;
  OutputFormat output = OutputFormat::text;
  // A list, so that the options' targets keep their addresses.
  std::list<std::pair<const server::Setting*, std::optional<std::vector<std::string>>>> given;
};

void declare(Arguments& arguments, ServeOptions& options) {
  arguments.flag("--check-config", "only say whether the settings are right and their models can be loaded",
                 options.only_checks);
  arguments.option("--config", "FILE", "read settings there; see docs/configuration.md",
                   [&](std::string_view path) { options.configuration.choose(path); });
  arguments.one_of(
      "--output", "FORMAT", "of --check-config; text is as a file would have it", {"text", "json"},
      [&](std::string_view name) { options.output = name == "json" ? OutputFormat::json : OutputFormat::text; });
  for (const server::Setting& setting : server::settings_table()) {
    if (setting.option.empty() || setting.scope == server::SettingScope::commands) continue;
    if (!setting.title.empty()) arguments.group(setting.title);
    auto& given = options.given.emplace_back(&setting, std::nullopt);
    arguments.raw(setting.option, setting.value, setting.sentence, given.second);
    if (setting.key == "backend_priority") {
      arguments.choices(backend_names);
    } else {
      arguments.choices([&] { return std::vector<std::string>(setting.choices.begin(), setting.choices.end()); });
    }
  }
}

// The first --model is for requests that name none; the others are loaded at the start as well. Takes them out.
std::vector<std::string> take_further_models(std::map<std::string, std::vector<std::string>, std::less<>>& given) {
  const auto models = given.find("--model");
  if (models == given.end() || models->second.size() < 2) return {};
  std::vector<std::string> further(models->second.begin() + 1, models->second.end());
  models->second.resize(1);
  return further;
}

server::LoadedSettings load(const Arguments& arguments, ServeOptions& options) {
  server::SettingSources sources{
      .options = {}, .environment = environment_variable, .file = options.configuration.file()};
  for (auto& [setting, values] : options.given) {
    if (values && setting->key == "model" && std::ranges::find(*values, "") != values->end())
      throw arguments.usage_error("--model is empty: name one, or leave it out");
    if (values) sources.options.emplace(setting->option, std::move(*values));
  }
  if (!options.model.empty() && !sources.options.emplace("--model", std::vector{options.model}).second)
    throw arguments.usage_error("the model is given twice, as MODEL and as --model");
  const std::vector<std::string> further = take_further_models(sources.options);
  try {
    server::LoadedSettings loaded = server::load_settings(sources);
    auto& preload = loaded.settings.preload;
    preload.insert(preload.end(), further.begin(), further.end());
    return loaded;
  } catch (const Error& error) {
    // Errors in command-line values are reported like other usage errors.
    if (!error.message().starts_with("--")) throw;
    throw arguments.usage_error(error.message());
  }
}

// Options shared with the commands: logging, threads and backends.
CommonOptions common_options(const server::Settings& settings) {
  CommonOptions options;
  options.backends = settings.backend_priority;
  options.backends_asked_by = settings.backend_priority_origin;
  options.device = settings.device;
  options.gpu = parse_accelerator_kind(settings.gpu).value();
  options.gpu_asked_by = settings.gpu_origin;
  options.policy = parse_backend_policy(settings.policy).value();
  options.dtype = settings.dtype;
  options.threads = settings.threads;
  options.pin_threads = settings.pin_threads;
  options.no_mmap = !settings.map_files;
  options.quiet = settings.quiet;
  options.log_level = settings.log_level;
  options.log_style = settings.log_style;
  return options;
}

void check(const server::Settings& settings, const ServeOptions& options) {
  std::vector<Error> problems = problems_of(settings);
  bool settings_are_right = problems.empty();
  try {
    const runtime::LoadRequest load = load_request(common_options(settings));
    const machine::Preferences preferences = runtime::preferences_of(load);
    machine::select({.name = "any"}, preferences, machine::discover_for(preferences));
    for (Error& error : unloadable_models(settings, load)) problems.push_back(std::move(error));
  } catch (const Error& error) {
    settings_are_right = false;
    problems.push_back(error);
  }
  std::string all;
  for (const Error& problem : problems) all += (all.empty() ? "" : "; ") + std::string(problem.what());
  // Where only models are at fault, the code is that of loading them.
  if (!all.empty()) throw Error(settings_are_right ? problems.front().code() : ErrorCode::invalid_argument, all);

  Output output;
  if (options.output == OutputFormat::json) {
    output.write(formats::to_json_text(formats::Json::Object{{"message", "configuration is fine"},
                                                             {"settings", server::settings_as_json(settings)}}) +
                 "\n");
  } else {
    output.write("# configuration is fine\n" + server::settings_as_yaml(settings));
  }
  output.finish();
}

void warn_of_open_server(const server::Settings& settings) {
  if (!settings.listens_on_tcp || !settings.api_keys.empty() || server::is_loopback(settings.host)) return;
  base::log(base::LogLevel::warn, "everybody who reaches this address may use the server; set api_keys",
            {{"host", settings.host}},
            "everybody who reaches " + settings.host + " may use the server: set api_keys, or host: 127.0.0.1");
}

// To programs that wait for it, on standard output, and in the log; to somebody at a terminal once.
void announce(const server::Application& application) {
  const bool is_writable = base::is_writable(base::kStandardOutput);
  const bool is_seen =
      is_writable && base::is_terminal(base::kStandardOutput) && base::is_terminal(base::kStandardError);
  if (!is_seen) {
    for (const std::string& endpoint : application.endpoints())
      base::log(base::LogLevel::info, "listening", {{"endpoint", endpoint}});
  }
  if (!is_writable) return;
  Output output;
  try {
    for (const std::string& endpoint : application.endpoints()) {
      output.write("listening on " + endpoint + "\n");
    }
    output.finish();
  } catch (const OutputClosed&) {
    // Nobody reads the output, but clients may still know the address.
  }
}

void serve(const Arguments& arguments, ServeOptions& options) {
  const server::LoadedSettings loaded = load(arguments, options);
  const server::Settings& settings = loaded.settings;
  const CommonOptions common = common_options(settings);
  base::limit_retained_heap();
  apply(common);
  if (const auto* file = options.configuration.file())
    base::log(base::LogLevel::info, "configuration read", {{"path", file->name}});
  for (const std::string& what : loaded.unknown_keys)
    base::log(base::LogLevel::warn, "unknown key in the configuration", {{"what", what}}, what);
  for (const std::string& what : loaded.idle_settings)
    base::log(base::LogLevel::warn, "setting without effect", {{"what", what}}, what);
  warn_of_open_server(settings);
  if (options.only_checks) return check(settings, options);

  if (const auto problems = problems_of(settings); !problems.empty()) throw problems.front();
  check_dtype(common);
  machine::log_backends(machine::discover(), runtime::preferences_of(load_request(common)));
  server::Application application(settings, std::string(program_version()));
  application.handle_signals();
  announce(application);
  application.run();
  base::log(base::LogLevel::info, "stopped");
}

}  // namespace

void run_serve(Arguments& arguments) {
  ServeOptions options;
  arguments.positional("MODEL", false, options.model);
  arguments.refuse_empty();
  declare(arguments, options);
  if (arguments.parse()) serve(arguments, options);
}

// With a model Ollama's command for a conversation; without one Termite's for the server, whose options have other
// meanings. Which one it is the first argument says.
void run_run(Arguments& arguments) {
  const std::optional<std::string> first = arguments.first();
  const bool is_server = first && first->starts_with('-') && *first != "--help" && *first != "-h";
  if (arguments.is_described() || (first && !is_server)) return run_conversation(arguments, FirstMessage::argument);
  ServeOptions options;
  declare(arguments, options);
  if (!arguments.parse()) return;
  serve(arguments, options);
}

}  // namespace alate::app
