// The models that exist, whether a cache still keeps them or only their holders do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/mutex.h"
#include "runtime/caching/cached_model.h"

namespace alate::runtime {

class ModelCensus;

/// A model that is counted until it has been destroyed.
struct TrackedModel {
  TrackedModel(std::unique_ptr<CachedModel> made, std::shared_ptr<ModelCensus> counting)
      : model(std::move(made)), census(std::move(counting)) {}
  ~TrackedModel();
  TrackedModel(const TrackedModel&) = delete;
  TrackedModel& operator=(const TrackedModel&) = delete;

  std::unique_ptr<CachedModel> model;
  const std::shared_ptr<ModelCensus> census;
  TrackedModel* next_released = nullptr;  // DeferredDeleter's
};

/// Counts models, loading or alive, by ModelKey::model. Thread-safe.
class ModelCensus {
 public:
  void loading_begins(const std::string& model);
  void loading_ends(const std::string& model);
  /// `model` is alive from now on. Call once, before others see it.
  void add(const std::shared_ptr<TrackedModel>& model);
  void remove(const TrackedModel& model) noexcept;

  std::vector<std::shared_ptr<CachedModel>> alive() const;
  /// Waits until no model of this name is loading or alive. False if there still is one after `limit`.
  bool wait_until_gone(std::string_view model, std::chrono::nanoseconds limit) const;

 private:
  struct Alive {
    std::weak_ptr<TrackedModel> model;
    std::string name;
  };

  mutable base::Mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<const TrackedModel*, Alive> alive_;
  std::map<std::string, std::size_t, std::less<>> loading_;
};

}  // namespace alate::runtime
