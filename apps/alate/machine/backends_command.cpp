// alate backends: lists backends; install and remove fetch and delete runtimes.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"
#include "apps/alate/machine/backend_listing.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "base/byte_text.h"
#include "base/log.h"
#include "base/os/platform.h"
#include "formats/json.h"
#include "hub/install/runtime_install.h"
#include "hub/install/runtime_packages.h"
#include "machine/discovery.h"
#include "machine/machine_json.h"

namespace alate::app {
namespace {

using formats::Json;

struct Asked {
  std::string action, name;
  hub::InstallOptions install;
  bool probe = false;
};

void list_backends(const Asked& asked, OutputFormat format, Output& output) {
  const machine::Machine machine = machine::discover({.anew = asked.probe});
  output.write(format == OutputFormat::json ? formats::to_json_text(machine::to_json(machine)) + "\n"
                                            : backend_listing(machine));
}

// Logs the start of each step: standard output is only for results.
void say_step(std::string_view step, std::uint64_t done, std::uint64_t total) {
  if (done != 0) return;
  base::log(base::LogLevel::info, step, {{"bytes", std::to_string(total)}});
}

void install(const Asked& asked, OutputFormat format, Output& output) {
  const hub::InstalledRuntime made = hub::install_runtime(asked.name, asked.install, say_step);
  if (format == OutputFormat::json) {
    output.write(formats::to_json_text(Json::Object{{"name", made.name},
                                                    {"version", made.version},
                                                    {"library", made.library.string()},
                                                    {"origin", made.origin},
                                                    {"already_installed", made.already_installed}}) +
                 "\n");
  } else {
    output.write(made.name + " " + made.version + (made.already_installed ? " is there already: " : " is installed: ") +
                 made.library.string() + "\n");
    if (!made.origin.empty()) output.write("  " + made.origin + "\n");
  }
}

void remove(const Asked& asked, OutputFormat format, Output& output) {
  const bool removed = hub::remove_runtime(asked.name);
  if (format == OutputFormat::json) {
    output.write(formats::to_json_text(Json::Object{{"name", asked.name}, {"removed", removed}}) + "\n");
  } else {
    output.write(asked.name + (removed ? " is removed\n" : " was not installed\n"));
  }
}

// The installable packages for this machine, for the help.
std::vector<std::pair<std::string, std::string>> packages() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const hub::RuntimePackage& each : hub::runtime_packages()) {
    if (each.platform == base::platform())
      rows.emplace_back(each.name, std::string(each.version) + ", " + base::byte_text(each.bytes) + ", " +
                                       std::string(each.sentence));
  }
  return rows;
}

}  // namespace

void run_backends(Arguments& arguments) {
  CommonOptions options;
  Asked asked;
  std::string from;
  arguments.positional("install|remove", false, asked.action);
  arguments.choices({"install", "remove"});
  arguments.positional("NAME", false, asked.name);
  arguments.choices([] {
    std::vector<std::string> names;
    for (auto& [name, sentence] : packages()) names.push_back(std::move(name));
    return names;
  });
  arguments.flag("--probe", "forget what was found before: open every library and test every device anew", asked.probe);
  arguments.option("--from", "FILE", "install from this wheel instead of fetching it", from);
  arguments.flag("--allow-unpinned", "take a --from file that is not the one this version knows",
                 asked.install.allow_unpinned);
  arguments.names("Packages for this machine", packages());
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::offline}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  asked.install.from = from;
  asked.install.offline = options.offline;
  Output output(options.out);
  if (asked.action.empty()) {
    list_backends(asked, format, output);
  } else if (asked.action != "install" && asked.action != "remove") {
    throw arguments.usage_error("there is no action " + formats::quoted_name(asked.action) + "; install or remove");
  } else if (asked.name.empty()) {
    throw arguments.usage_error(asked.action + " needs the NAME of a package");
  } else if (asked.action == "install") {
    install(asked, format, output);
  } else {
    remove(asked, format, output);
  }
  output.finish();
}

}  // namespace alate::app
