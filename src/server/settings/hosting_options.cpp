#include "server/settings/hosting_options.h"

#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "machine/discovery.h"
#include "machine/selection.h"
#include "runtime/loading/loaded_model.h"
#include "server/settings/settings_loading.h"

namespace alate::server {
namespace {

BackendPolicy policy_of(const Settings& settings) {
  if (settings.policy == "strict") return BackendPolicy::strict;
  if (settings.policy == "allow") return BackendPolicy::allow;
  if (settings.policy == "warn") return BackendPolicy::warn;
  throw make_error(ErrorCode::invalid_argument, "policy is ", formats::quoted_name(settings.policy),
                   "; it must be strict, warn or allow");
}

LoadOptions load_options(const Settings& settings) {
  return {.backends = settings.backend_priority,
          .asked_by = settings.backend_priority_origin.empty() ? "backend_priority" : settings.backend_priority_origin,
          .is_wish = is_foreign_variable(settings.backend_priority_origin),
          .device = settings.device,
          .gpu = settings.gpu,
          .gpu_is_wish = is_foreign_variable(settings.gpu_origin),
          .policy = policy_of(settings),
          .threads = settings.threads,
          .map_files = settings.map_files,
          .dtype = settings.dtype};
}

}  // namespace

HostingOptions hosting_options(const Settings& settings, runtime::BatchObserver observer) {
  LoadOptions load = load_options(settings);
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
  options.load.backends = {backend};
  options.load.asked_by = "the request";
  options.load.is_wish = false;
  options.load.device.clear();
  options.load.policy = BackendPolicy::strict;
  return options;
}

}  // namespace alate::server
