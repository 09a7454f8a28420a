#include "runtime/caching/model_census.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace alate::runtime {

TrackedModel::~TrackedModel() {
  model.reset();  // before waiters are notified
  census->remove(*this);
}

void ModelCensus::loading_begins(const std::string& model) {
  const std::lock_guard lock(mutex_);
  ++loading_[model];
}

void ModelCensus::loading_ends(const std::string& model) {
  const std::lock_guard lock(mutex_);
  const auto found = loading_.find(model);
  if (--found->second == 0) loading_.erase(found);
  changed_.notify_all();
}

void ModelCensus::add(const std::shared_ptr<TrackedModel>& model) {
  const std::lock_guard lock(mutex_);
  alive_.emplace(model.get(), Alive{.model = model, .name = model->model->key().model});
}

void ModelCensus::remove(const TrackedModel& model) noexcept {
  const std::lock_guard lock(mutex_);
  alive_.erase(&model);
  changed_.notify_all();
}

std::vector<std::shared_ptr<CachedModel>> ModelCensus::alive() const {
  std::vector<std::shared_ptr<CachedModel>> all;
  const std::lock_guard lock(mutex_);
  all.reserve(alive_.size());  // so that none is let go of with the lock held
  for (const auto& [address, each] : alive_) {
    if (std::shared_ptr<TrackedModel> held = each.model.lock()) {
      CachedModel* model = held->model.get();
      all.emplace_back(std::move(held), model);
    }
  }
  return all;
}

bool ModelCensus::wait_until_gone(std::string_view model, std::chrono::nanoseconds limit) const {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, limit, [&] {
    return !loading_.contains(model) &&
           std::ranges::none_of(alive_, [&](const auto& each) { return each.second.name == model; });
  });
}

}  // namespace alate::runtime
