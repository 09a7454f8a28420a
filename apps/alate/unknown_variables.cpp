#include "unknown_variables.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/nearest_name.h"
#include "base/os/environment.h"
#include "server/settings/settings_table.h"
#include "verb_description.h"

namespace alate::app {
namespace {

constexpr std::string_view kVariablePrefix = "ALATE_";

constexpr std::size_t kVariablesShown = 5;

// Variables of the program and the library that belong to no option.
constexpr std::array<std::string_view, 5> kOwnVariables = {"ALATE_BACKEND_PATH", "ALATE_BUILTIN_MODELS", "ALATE_HOME",
                                                           "ALATE_ISA", "ALATE_PACKAGE_INDEX"};

// Read by the build, the tests and the tools; never suggested.
constexpr std::array<std::string_view, 17> kVariablesOfTools = {
    "ALATE_ARCHIVES",          "ALATE_BASE",        "ALATE_CHECKED_MODEL",    "ALATE_CROSS_CACHE",
    "ALATE_FUZZ_SECONDS",      "ALATE_FUZZ_TARGET", "ALATE_INSTRUCTION_SETS", "ALATE_PROGRAM",
    "ALATE_RECONFIGURE",       "ALATE_TEST_ALL",    "ALATE_TEST_MODEL_DIR",   "ALATE_TEST_PYTHON",
    "ALATE_RANDOM_TOKENIZERS", "ALATE_TEST_STEPS",  "ALATE_TEST_TOKENIZERS",  "ALATE_TEST_SCHEMA_FILE",
    "ALATE_TEST_SCHEMA_PAIRS"};

// "ALATE_SERVICE_HOST", "ALATE_PORT_11433_TCP_ADDR", "ALATE_WEB_PORT=tcp://10.0.0.1:80": set in every container of a
// Kubernetes namespace with a service whose name begins with alate, and by Docker's links.
bool is_of_a_service(const std::string& name) {
  if (name.find("_SERVICE_HOST") != std::string::npos || name.find("_SERVICE_PORT") != std::string::npos) return true;
  for (const std::string_view protocol : {"TCP", "UDP", "SCTP"}) {
    const std::size_t end = name.find("_" + std::string(protocol));
    const std::size_t port = name.rfind("_PORT_", end);
    if (end != std::string::npos && port != std::string::npos &&
        name.find_first_not_of("0123456789", port + 6) == end && end > port + 6)
      return true;
  }
  return name.ends_with("_PORT") && base::environment(name.c_str()).value_or("").find("://") != std::string::npos;
}

}  // namespace

std::vector<std::string> known_variables() {
  std::vector<std::string> known(kOwnVariables.begin(), kOwnVariables.end());
  for (const VerbDescription& verb : verb_descriptions()) {
    for (const DescribedGroup& group : verb.groups) {
      for (const DescribedOption& option : group.options) known.push_back(variable_of_option(option.name));
    }
  }
  for (const server::Setting& setting : server::settings_table()) {
    if (!setting.option.empty()) known.push_back(server::environment_variable(setting));
  }
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  return known;
}

std::vector<std::string> unknown_variables(std::vector<std::string> names) {
  const auto is_expected = [](const std::string& name) {
    return !name.starts_with(kVariablePrefix) || std::ranges::find(kOwnVariables, name) != kOwnVariables.end() ||
           std::ranges::find(kVariablesOfTools, name) != kVariablesOfTools.end() || is_of_a_service(name);
  };
  std::erase_if(names, is_expected);
  if (names.empty()) return names;  // the usual case needs no description of all verbs
  const std::vector<std::string> known = known_variables();
  std::erase_if(names, [&](const std::string& name) { return std::ranges::binary_search(known, name); });
  std::ranges::sort(names);
  return names;
}

void warn_of_unknown_variables() {
  if (!base::logs(base::LogLevel::warn)) return;
  const std::vector<std::string> unknown = unknown_variables(base::environment_names(kVariablePrefix));
  if (unknown.empty()) return;
  const std::vector<std::string> known = known_variables();
  std::vector<std::string_view> ends;  // without the prefix, which would make any two names near
  for (const std::string& name : known) ends.push_back(std::string_view(name).substr(kVariablePrefix.size()));
  std::string shown;
  for (std::size_t i = 0; i < std::min(unknown.size(), kVariablesShown); ++i) {
    const std::string_view end = std::string_view(unknown[i]).substr(kVariablePrefix.size());
    const std::string_view nearest = base::nearest_name(end, ends);
    shown += (i > 0 ? ", " : "") + unknown[i];
    if (!nearest.empty()) shown += " (did you mean " + std::string(kVariablePrefix) + std::string(nearest) + "?)";
  }
  if (unknown.size() > kVariablesShown) shown += " and " + std::to_string(unknown.size() - kVariablesShown) + " more";
  base::log(base::LogLevel::warn, "nothing reads these variables of the environment", {{"names", shown}},
            "nothing reads these variables of the environment: " + shown);
}

}  // namespace alate::app
