#include "server/models/backend_choices.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "backends/registry.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "server/settings/settings_loading.h"

namespace alate::server {
namespace {

using machine::BackendSpec;

constexpr std::string_view kAutomatic = "auto";
constexpr std::string_view kNeverAutomatic = "reference";

// Unlike the registry, opens no library for an unknown name.
const backends::Registration* find_row(std::string_view name) {
  for (const backends::Registration& row : backends::registrations()) {
    if (row.name == name || std::ranges::find(row.aliases, name) != row.aliases.end()) return &row;
  }
  return nullptr;
}

std::string text_of(const BackendSpec& spec) {
  return spec.device.empty() ? spec.backend : spec.backend + ":" + spec.device;
}

std::string joined(const std::vector<BackendSpec>& choices) {
  std::string names;
  for (const BackendSpec& choice : choices) names += (names.empty() ? "" : ", ") + text_of(choice);
  return names;
}

}  // namespace

BackendChoices::BackendChoices(const Settings& settings) {
  bool is_automatic = settings.backend_priority.empty() || is_foreign_variable(settings.backend_priority_origin);
  for (const std::string& text : settings.backend_priority) {
    BackendSpec spec = BackendSpec::parse(text);
    is_automatic = is_automatic || spec.backend == kAutomatic;
    const backends::Registration* row = backends::find_registration(spec.backend);
    if (row == nullptr) continue;
    if (spec.device.empty()) spec.device = settings.device;
    choices_.push_back({std::string(row->name), std::move(spec.device)});
  }
  if (!is_automatic) return;
  for (const backends::Registration& row : backends::registrations()) {
    if (row.name != kNeverAutomatic) choices_.push_back({std::string(row.name), {}});
  }
}

BackendSpec BackendChoices::allowed(std::string_view asked) const {
  BackendSpec spec = BackendSpec::parse(asked);
  const backends::Registration* row = find_row(spec.backend);
  if (row == nullptr) {
    const auto elsewhere = machine::names_elsewhere();
    if (std::ranges::find(elsewhere, spec.backend) != elsewhere.end())
      throw make_error(ErrorCode::unsupported, "the backend ", formats::quoted_name(spec.backend),
                       " is not here: this build does not have it; requests may name ", joined(choices_));
    throw make_error(ErrorCode::invalid_argument, "no backend is called ", formats::quoted_name(spec.backend),
                     "; requests may name ", joined(choices_));
  }
  spec.backend = row->name;
  for (const BackendSpec& choice : choices_) {
    if (choice.backend != spec.backend) continue;
    if (choice.device.empty() || choice.device == spec.device) return spec;
    if (spec.device.empty()) return choice;
  }
  throw make_error(ErrorCode::unsupported, "this server does not compute on ", formats::quoted_name(text_of(spec)),
                   " for requests; they may name ", joined(choices_));
}

std::optional<std::string> BackendChoices::find_in_memory(std::string_view asked) const {
  if (asked.empty()) return std::string();
  const std::string text = text_of(allowed(asked));
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(text);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

std::string BackendChoices::resolve(std::string_view asked, std::string_view model) {
  if (const auto known = find_in_memory(asked)) return *known;
  const std::string text = text_of(allowed(asked));
  machine::Preferences preferences;
  preferences.wanted = {text};
  preferences.asked_by = "the request";
  preferences.policy = BackendPolicy::strict;
  try {
    const Selection selection =
        machine::select({.name = std::string(model)}, preferences, machine::discover_for(preferences));
    std::string device = selection.backend + ":" + selection.device_index;
    const std::lock_guard lock(mutex_);
    return known_.emplace(text, std::move(device)).first->second;
  } catch (const Error& error) {
    // A backend missing on this machine will not appear by retrying.
    throw error.code() == ErrorCode::unavailable ? Error(ErrorCode::unsupported, error.what()) : error;
  }
}

}  // namespace alate::server
