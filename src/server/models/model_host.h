// The models a server has loaded, by name: what it adds to the cache that keeps them.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipelines/model_summary.h"
#include "pipelines/task_pipelines.h"
#include "runtime/batching/batch_scheduler.h"
#include "runtime/caching/cached_model.h"
#include "runtime/caching/model_cache.h"
#include "server/exchange/work_queue.h"
#include "server/metrics/model_statistics.h"
#include "server/models/model_purpose.h"
#include "server/pulls/pulls.h"
#include "server/settings/settings.h"

namespace alate::server {

/// A loaded model with its queue. Stays alive while referenced, even after it has been unloaded.
class HostedModel final : public runtime::CachedModel {
 public:
  HostedModel(std::string the_name, std::filesystem::path the_path, pipelines::TaskPipelines loaded,
              std::chrono::nanoseconds took, std::shared_ptr<ModelStatistics> counted,
              std::unique_ptr<runtime::BatchScheduler> queue)
      : name(std::move(the_name)),
        path(std::move(the_path)),
        pipelines(std::move(loaded)),
        load_time(took),
        statistics(std::move(counted)),
        scheduler(std::move(queue)) {}

  /// In the spelling of BackendChoices.
  std::string place() const override;
  std::size_t bytes() const override;
  bool is_busy() const override;

  /// Throws RequestError, impossible, for a model without one.
  const Tokenizer& tokenizer() const;
  /// Throws RequestError, impossible, for a model that does not generate.
  const TextGenerator& generator() const;
  /// Ends all that is computed or waits.
  void stop() const noexcept;
  /// How long what is computed now has been computed; 0: nothing is.
  std::chrono::nanoseconds running() const;

  const std::string name;            // as in the models directory: "owner/name"
  const std::filesystem::path path;  // of its folder, or of the file of a variant
  const pipelines::TaskPipelines pipelines;
  const std::chrono::nanoseconds load_time;
  const std::shared_ptr<ModelStatistics> statistics;         // of all that was loaded under this name
  const std::unique_ptr<runtime::BatchScheduler> scheduler;  // of entry points of the model
};

/// A model on disk, described from its files without loading it.
struct ModelListing : pipelines::ModelSummary {
  std::string name;
  std::filesystem::path folder;
  std::filesystem::path path;  // what is loaded: the folder, or the file of a variant
  std::string digest;          // "sha256:…" of file names, sizes and times: cheap, and changes whenever they do
};

struct LoadedListing {
  std::shared_ptr<HostedModel> model;
  std::optional<std::chrono::system_clock::time_point> expires;  // none: never
  std::size_t bytes = 0;                                         // of weights in memory, and that its cache may take
};

/// Thread-safe.
class ModelHost {
 public:
  using Ready = std::function<void(std::shared_ptr<HostedModel>, std::exception_ptr)>;

  /// `loaders` runs the loading and must outlive the host; so must `pulls`, without which nothing is fetched.
  /// `observer` is passed to each model's scheduler. Throws if settings.default_model, backend_priority or policy are
  /// invalid: as folders::resolve_model and machine::select.
  ModelHost(const Settings& settings, WorkQueue& loaders, runtime::BatchObserver observer, Pulls* pulls = nullptr);
  /// Requests waiting for a model get `unavailable`. Models still referenced live on.
  ~ModelHost();
  /// As the destructor, and also stops the schedulers of all models, including those still referenced: none of their
  /// callbacks runs after it returns. From now on `acquire` yields `unavailable`. Idempotent; not to be called from two
  /// threads at once.
  void stop() noexcept;
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  /// Calls `ready` once, with the model or an alate::Error: immediately if the model is loaded or the name is
  /// malformed, else on another thread. Never blocks on the disk: names are looked up in memory and, if not found
  /// there, by a dedicated thread. Concurrent requests for a model that is not loaded load it once. An empty name is
  /// the default model: settings.default_model, else the only model there is; invalid_argument listing the choices if
  /// there are several. Where that is not for `purpose`, it is the only model that is, as ModelChoice::choose.
  /// Otherwise a name in the models directory, with or without ":latest"; never a path. Loading evicts the least
  /// recently used models over max_loaded_models and max_memory_mb.
  ///
  /// `backend` (NAME or NAME:DEVICE) is where the model must run; empty: as in the settings. A model may be loaded on
  /// several backends, but only once per device. Never throws; `ready` gets invalid_argument for an unknown backend
  /// name, and unsupported for one that requests may not name (backend_choices.h) or that cannot run the model here.
  ///
  /// Loads take turns between the clients that ask, and one client's loads never have all threads of several.
  ///
  /// "hf:owner/name" is fetched first where the settings permit; `asker` says whose share of downloads that counts for,
  /// and when nobody waits any more. `ready` may then get a RequestError.
  void acquire(std::string_view name, Ready ready) { acquire(name, {}, std::move(ready)); }
  void acquire(std::string_view name, std::string_view backend, Ready ready, const Asker& asker = {},
               const ModelPurpose& purpose = {});

  /// Fetches a model for a client, who may then name it: "hf:owner/name", with or without hf:, or its address on the
  /// hub. `done` gets null or an error that the client may see. Throws as permitted_reference and Pulls::ask.
  void pull(std::string_view name, const Asker& asker, std::function<void(std::exception_ptr error)> done,
            Pulls::Watch watch = {});

  /// Postpones a model's unloading as if it had just been used. `keep_alive` (negative: forever, 0: unload when idle)
  /// overrides the setting for this model, up to the larger of settings.max_keep_alive and keep_alive. Models that are
  /// loaded permanently are not affected.
  void touch(const HostedModel& model, std::optional<std::chrono::nanoseconds> keep_alive = {});
  /// The same for a client that may not have models unloaded, which others use too: a keep_alive that is shorter than
  /// what the model has is ignored, and the result is false.
  bool lengthen(const HostedModel& model, std::chrono::nanoseconds keep_alive);

  /// Unloads the model from every backend. False if it was not loaded. Requests in flight finish.
  bool unload(std::string_view name);
  /// Unloads models that have been idle for longer than their keep-alive, and loads those anew whose files have changed
  /// and would load: requests under way finish with the old one. The server calls it about every second.
  void unload_idle();
  /// A model whose scheduler has been in one call for longer than `limit`; empty if there is none.
  std::string hung_model(std::chrono::nanoseconds limit) const;

  std::vector<LoadedListing> loaded() const;
  runtime::ModelCache::Counts load_counts() const;
  /// What the model of this name (as in the models directory) has computed, on any backend, also while it was loaded
  /// before.
  ModelStatistics::Snapshot statistics(std::string_view name) const;
  /// Result may be slightly out of date.
  std::vector<ModelListing> listed() const;
  /// Throws not_found or invalid_argument as `acquire`; messages contain no local paths.
  ModelListing describe(std::string_view name) const;

  /// Loads settings.preload, settings.default_model and the eager models of settings.model_strategies in the
  /// background, after fetching those of the hub; `preloaded` becomes true when that is done, whether or not it
  /// succeeded. `failed` is called, on another thread, for each model of the hub that is not there then.
  void preload(const std::function<void(const Error& error)>& failed = {});
  bool preloaded() const;
  /// Why the model that requests get without naming one cannot be loaded, without local paths; empty if it can, or if
  /// requests must name one. Found by `preload` and by each load, and again when the model's files change or a minute
  /// has passed: asking costs nothing.
  std::string default_failure() const;

 private:
  struct State;
  WorkQueue look_ups_;            // for unknown names, and for backends not asked for before
  std::shared_ptr<State> state_;  // shared with models being loaded
};

}  // namespace alate::server
