#include "server/models/hosting_options.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include "models/weights/weight_settings.h"

#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "machine/selection.h"
#include "runtime/loading/loaded_model.h"
#include "server/settings/settings_loading.h"

namespace alate::server {
namespace {

constexpr std::string_view kRequest = "the request";

template <typename Value>
Value one_of(std::optional<Value> parsed, std::string_view key, const std::string& text,
             std::span<const std::string_view> names) {
  if (parsed) return *parsed;
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  throw make_error(ErrorCode::invalid_argument, key, " is ", formats::quoted_name(text), "; it is one of ", all);
}

}  // namespace

bool is_named_by_request(const machine::ChoiceOrigin& origin) { return origin.places == kRequest; }

runtime::LoadRequest load_request(const Settings& settings) {
  LoadOptions options{.threads = settings.threads, .map_files = settings.map_files};
  options.backend.places = BackendPlace::parse_all(settings.backend_priority);
  options.backend.device = settings.device;
  options.dtype = models::require_compute_type(settings.dtype);
  options.backend.accelerators =
      one_of(parse_accelerator_kind(settings.gpu), "gpu", settings.gpu, accelerator_kind_names());
  options.backend.policy =
      one_of(parse_backend_policy(settings.policy), "policy", settings.policy, backend_policy_names());
  const std::string& origin = settings.backend_priority_origin;
  return {std::move(options),
          {.places = origin.empty() ? "backend_priority" : origin,
           .places_are_wish = is_foreign_variable(origin),
           .accelerators_are_wish = is_foreign_variable(settings.gpu_origin)}};
}

HostingOptions hosting_options(const Settings& settings, runtime::BatchObserver observer) {
  runtime::LoadRequest load = load_request(settings);
  const machine::Preferences preferences = runtime::preferences_of(load);
  machine::select({.name = "any"}, preferences, machine::discover_for(preferences));
  return {.load = std::move(load),
          .batches = {.max_tokens = settings.batch_max_tokens,
                      .max_wait = settings.batch_max_wait,
                      .cache_size = settings.cache_size,
                      .cache_ttl = settings.cache_ttl},
          .observer = std::move(observer)};
}

HostingOptions on_backend(HostingOptions options, const std::string& backend) {
  if (backend.empty()) return options;
  options.load.options.backend = {.places = {BackendPlace::parse(backend)},
                                  .accelerators = options.load.options.backend.accelerators,
                                  .policy = BackendPolicy::strict};
  options.load.origin.places = kRequest;
  options.load.origin.places_are_wish = false;
  return options;
}

}  // namespace alate::server
