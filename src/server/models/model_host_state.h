// What a model host is made of, for its own files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "base/threads/mutex.h"
#include "runtime/caching/model_cache.h"
#include "runtime/decoding/step_turns.h"
#include "server/models/backend_choices.h"
#include "server/models/default_model_failure.h"
#include "server/models/host_limits.h"
#include "server/models/load_failures.h"
#include "server/models/model_choice.h"
#include "server/models/model_host.h"
#include "server/models/model_listing.h"
#include "server/models/model_loading.h"
#include "server/models/model_names.h"

namespace alate::server {

/// How a request says which model it wants.
struct ModelSpelling {
  std::string name, backend;  // as in ModelHost::acquire
  ModelPurpose purpose = {};  // only of an empty name
};

/// Models in the spellings that requests had: what was once found is found again without a look at names and backends.
/// Thread-safe.
class ModelSpellings {
 public:
  /// The model that was last given to a request of this spelling, if it still exists.
  std::shared_ptr<HostedModel> find(const ModelSpelling& spelling) const;
  void add(const ModelSpelling& spelling, const std::shared_ptr<HostedModel>& model);

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, std::weak_ptr<HostedModel>, std::less<>> models_;
};

/// Of a loaded model, as they were seen last.
struct ChangedFiles {
  std::string digest;
  bool is_reloaded = false;  // for these
};

struct ModelHost::State : std::enable_shared_from_this<ModelHost::State> {
  using Clock = runtime::ModelCache::Clock;
  using Hosted = std::shared_ptr<HostedModel>;

  State(const Settings& given, WorkQueue& queue, WorkQueue& look_up_queue, runtime::BatchObserver observer,
        Pulls* the_pulls);

  const Settings settings;
  const ModelNames names;
  BackendChoices backends;
  const HostingOptions hosting;
  const HostLimits limits;
  WorkQueue& loaders;   // not to be used once `closed`
  WorkQueue& look_ups;  // the same
  Pulls* const pulls;   // null: nothing is fetched
  ModelListings listings;
  ModelChoice choice;
  ModelSpellings spellings;
  std::atomic<std::ptrdiff_t> preloads_left = -1;
  std::atomic<bool> refresh_is_queued = false;
  DefaultModelFailure default_failure;
  LoadFailures failures;
  std::map<std::string, ChangedFiles> changed;  // by model; of the look-up thread
  /// By model, as ModelListing::digest before they were loaded; guarded by the mutex.
  std::map<std::string, std::string> loaded_files;
  const std::shared_ptr<runtime::StepTurns> turns = std::make_shared<runtime::StepTurns>();
  std::atomic<bool> check_is_queued = false;

  base::Mutex mutex;
  bool closed = false;
  std::map<std::string, std::shared_ptr<ModelStatistics>, std::less<>> statistics;  // by model name, for good
  runtime::ModelCache cache;

  // model_host.cpp
  void acquire(const ModelSpelling& spelling, Ready ready, const Asker& asker);
  void acquire_here(const ModelSpelling& spelling, Ready ready, const std::optional<ClientId>& client);
  void fetch(const hub::PullReference& reference, const Asker& asker,
             std::function<void(const PullResult& result)> done, Pulls::Watch watch);
  void look_up(const ModelSpelling& spelling, Clock::time_point since, const Ready& ready,
               const std::optional<ClientId>& client);
  void enter(const ModelSpelling& spelling, const NamedFolder& model, const std::string& backend, const Ready& ready,
             const std::optional<ClientId>& client);
  std::string canonical(std::string_view name);
  void close();

  // model_host_loading.cpp
  runtime::ModelCache::Wanted wanted(const NamedFolder& model, const std::string& backend,
                                     const std::optional<ClientId>& client);
  std::size_t expected_bytes(const NamedFolder& model) const;
  std::uint64_t most_cache_bytes(const NamedFolder& model) const;
  std::unique_ptr<HostedModel> load_or_remember(const NamedFolder& model, const std::string& backend);
  std::unique_ptr<HostedModel> load(const NamedFolder& model, const std::string& backend);
  void find_changed();
  bool is_loaded_from(const std::string& name, const std::string& digest);
  void reload(const NamedFolder& model);
  bool is_eager(const std::string& name) const;
  runtime::ModelCache::KeepAlive longest_keep_alive() const;
  runtime::ModelCache::KeepAlive permitted_keep_alive(std::chrono::nanoseconds asked) const;

  // model_host_default.cpp
  void preload_one(const std::string& name, const std::function<void(const Error&)>& failed);
  std::optional<NamedFolder> default_model() const;
  void note_load(const NamedFolder& model, const std::exception_ptr& error);
  void check_default();
  void queue_check_of_default(const std::function<void()>& done = {});
};

inline Error shutting_down() {
  return Error(ErrorCode::unavailable, "the server is shutting down; ask another, or later");
}

}  // namespace alate::server
