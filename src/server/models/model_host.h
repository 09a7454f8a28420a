// The models that a server has loaded: at most so many, unloaded when nobody has used them for a while.
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

#include "alate/embedding.h"
#include "runtime/batching/batch_scheduler.h"
#include "server/settings/settings.h"
#include "server/work_queue.h"

namespace alate::server {

/// A loaded model with its queue. Stays alive as long as somebody holds it, also after it has been unloaded.
struct HostedModel {
  std::string name;  // as the models directory has it: "owner/name"
  std::string key;   // of the host's table: the name, and the backend and device where a request named one
  std::filesystem::path folder;
  EmbeddingPipeline pipeline;
  std::chrono::nanoseconds load_time{};
  std::unique_ptr<runtime::BatchScheduler> scheduler;  // program 0: vectors as they are; 1: of length 1
  HostedModel* next_released = nullptr;                // DeferredDeleter's
};

/// A model on disk, from its files alone.
struct ModelListing {
  std::string name;
  std::filesystem::path folder;
  std::size_t bytes = 0;  // of its files
  std::chrono::system_clock::time_point modified{};
  std::string digest;          // "sha256:…" of names, sizes and times of the files: cheap, changes when they do
  std::string architecture;    // config.json's model_type; empty when unreadable
  std::string type;            // "embedder"
  std::string dtype;           // of the stored weights, "F32"; empty when unknown
  std::size_t parameters = 0;  // numbers in the weights; 0 when unknown
  std::size_t dimensions = 0, max_length = 0;  // hidden size and positions of config.json; 0 when unknown
};

struct LoadedListing {
  std::shared_ptr<HostedModel> model;
  std::optional<std::chrono::system_clock::time_point> expires;  // none: stays
  std::size_t bytes = 0;                                         // of weights in memory
};

/// Thread-safe.
class ModelHost {
 public:
  using Ready = std::function<void(std::shared_ptr<HostedModel>, std::exception_ptr)>;

  /// `loaders` runs the loading and must outlive the host. `observer` is given to each model's scheduler.
  /// Throws what is wrong with settings.default_model, backend_priority and policy: as hub::resolve_model and
  /// machine::select.
  ModelHost(const Settings& settings, WorkQueue& loaders, runtime::BatchObserver observer);
  /// Who waits for a model gets `unavailable`. Models that somebody holds live on.
  ~ModelHost();
  /// As the destructor, and stops the schedulers of all models, also of those that somebody holds: once it returns none
  /// of their callbacks runs. From now on `acquire` gives `unavailable`. Idempotent; not from two threads at once.
  void stop() noexcept;
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  /// Calls `ready` once: at once when the model is loaded, else on another thread, with the model or an
  /// alate::Error; at once too for what can be no model's name. Never waits for the disk: names are looked up in
  /// memory, and, where they are not there, by a thread for that. Many requests for a model that is not loaded load it
  /// once. An empty name is the default model: settings.default_model, else the only one there is; invalid_argument
  /// naming the choice where there are several. A name of the models directory, also with ":latest" behind it; never a
  /// path. Loading evicts the least recently used models over max_loaded_models and max_memory_mb.
  ///
  /// `backend` (NAME or NAME:DEVICE) is where the model must run; empty: as the settings say. A model may be loaded on
  /// several, but once on each device. Throws nothing; `ready` gets invalid_argument for a name that no backend has,
  /// and unsupported for one that requests may not name (backend_choices.h) and where that backend cannot run the model
  /// here.
  void acquire(std::string_view name, Ready ready) { acquire(name, {}, std::move(ready)); }
  void acquire(std::string_view name, std::string_view backend, Ready ready);

  /// Puts off a model's unloading as though it had just been used; `keep_alive` (negative: for ever, 0: unload when
  /// idle) replaces the setting for this model, up to the larger one of settings.max_keep_alive and keep_alive. Models
  /// that are loaded for good stay so.
  void touch(const HostedModel& model, std::optional<std::chrono::nanoseconds> keep_alive = {});

  /// Unloads it from every backend. False when it was not loaded. Requests under way finish.
  bool unload(std::string_view name);
  /// Unloads what is idle for longer than it may be. The server calls it every second or so.
  void unload_idle();
  /// A model whose scheduler has been in one call for longer than `limit`; empty where there is none.
  std::string hung_model(std::chrono::nanoseconds limit) const;

  std::vector<LoadedListing> loaded() const;
  /// As of a moment ago.
  std::vector<ModelListing> listed() const;
  /// Throws not_found or invalid_argument as `acquire`; messages name no path of this machine.
  ModelListing describe(std::string_view name) const;

  /// Loads settings.preload, settings.default_model and the eager ones of settings.model_strategies in the background;
  /// `preloaded` is true when that is over, whatever came of it.
  void preload();
  bool preloaded() const;

 private:
  struct State;
  WorkQueue look_ups_;            // of names that are not known, and of backends that were not asked for before
  std::shared_ptr<State> state_;  // loading models' too
};

}  // namespace alate::server
