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

constexpr std::string_view kNeverAutomatic = "reference";

// Unlike the registry, opens no library for an unknown name.
const backends::Registration* find_row(std::string_view name) {
  for (const backends::Registration& row : backends::registrations()) {
    if (row.name == name || std::ranges::find(row.aliases, name) != row.aliases.end()) return &row;
  }
  return nullptr;
}

}  // namespace

BackendChoices::BackendChoices(const Settings& settings) {
  bool is_automatic = settings.backend_priority.empty() || is_foreign_variable(settings.backend_priority_origin);
  for (const BackendPlace& place : BackendPlace::parse_all(settings.backend_priority)) {
    is_automatic = is_automatic || place.is_automatic();
    const backends::Registration* row = backends::find_registration(place.backend());
    if (row == nullptr) continue;
    choices_.emplace_back(std::string(row->name), place.device().empty() ? settings.device : place.device());
  }
  if (!is_automatic) return;
  for (const backends::Registration& row : backends::registrations()) {
    if (row.name != kNeverAutomatic) choices_.emplace_back(std::string(row.name));
  }
}

BackendPlace BackendChoices::allowed(std::string_view asked) const {
  const BackendPlace given = BackendPlace::parse(asked);
  const backends::Registration* row = find_row(given.backend());
  if (row == nullptr) {
    const auto elsewhere = machine::names_elsewhere();
    if (std::ranges::find(elsewhere, given.backend()) != elsewhere.end())
      throw make_error(ErrorCode::unsupported, "the backend ", formats::quoted_name(given.backend()),
                       " is not here: this build does not have it; requests may name ", to_string(choices_));
    throw make_error(ErrorCode::invalid_argument, "no backend is called ", formats::quoted_name(given.backend()),
                     "; requests may name ", to_string(choices_));
  }
  BackendPlace place(std::string(row->name), given.device());
  for (const BackendPlace& choice : choices_) {
    if (choice.backend() != place.backend()) continue;
    if (choice.device().empty() || choice.device() == place.device()) return place;
    if (place.device().empty()) return choice;
  }
  throw make_error(ErrorCode::unsupported, "this server does not compute on ", formats::quoted_name(to_string(place)),
                   " for requests; they may name ", to_string(choices_));
}

std::optional<std::string> BackendChoices::find_in_memory(std::string_view asked) const {
  if (asked.empty()) return std::string();
  const std::string text = to_string(allowed(asked));
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(text);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

std::string BackendChoices::resolve(std::string_view asked, std::string_view model) {
  if (const auto known = find_in_memory(asked)) return *known;
  const BackendPlace place = allowed(asked);
  machine::Preferences preferences;
  preferences.choice = {.places = {place}, .policy = BackendPolicy::strict};
  preferences.origin.places = "the request";
  try {
    const Selection selection =
        machine::select({.name = std::string(model)}, preferences, machine::discover_for(preferences));
    std::string device = selection.backend + ":" + selection.device_index;
    const std::lock_guard lock(mutex_);
    return known_.emplace(to_string(place), std::move(device)).first->second;
  } catch (const Error& error) {
    // A backend missing on this machine will not appear by retrying.
    throw error.code() == ErrorCode::unavailable ? Error(ErrorCode::unsupported, error.what()) : error;
  }
}

}  // namespace alate::server
