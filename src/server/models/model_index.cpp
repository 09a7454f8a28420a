#include "server/models/model_index.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "hub/builtin_models.h"
#include "hub/model_reference.h"

namespace alate::server {
namespace {

namespace fs = std::filesystem;
using Clock = ModelIndex::Clock;

constexpr std::size_t kMostNamed = 10;

// Reading folders takes at most a tenth of a thread's time, even if the disk is slow.
constexpr Clock::duration kShortestPause = std::chrono::milliseconds(100), kLongestPause = std::chrono::seconds(2);

Clock::time_point next_turn(const ModelIndex& index) {
  return index.begun() + index.took() + std::clamp(10 * index.took(), kShortestPause, kLongestPause);
}

std::optional<NamedFolder> find_in(const std::vector<NamedFolder>& models, std::string_view name) {
  const auto found = std::ranges::lower_bound(models, name, {}, &NamedFolder::name);
  return found != models.end() && found->name == name ? std::optional(*found) : std::nullopt;
}

}  // namespace

std::shared_ptr<const ModelIndex> ModelIndex::read(const fs::path& models_directory) {
  auto index = std::make_shared<ModelIndex>();
  index->begun_ = Clock::now();
  for (const std::string& name : hub::list_models(models_directory)) {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) index->by_short_name_.emplace_back(name.substr(slash + 1), index->models_.size());
    index->models_.push_back({name, models_directory / fs::path(name)});
  }
  std::ranges::sort(index->by_short_name_);
  for (const std::string& name : hub::list_builtin_models()) {
    try {
      index->builtin_.push_back({name, hub::resolve_builtin_model(name)});
    } catch (const Error&) {
      continue;  // it has disappeared since it was listed
    }
  }
  index->took_ = Clock::now() - index->begun_;
  return index;
}

std::optional<NamedFolder> ModelIndex::find(std::string_view name) const {
  if (name.starts_with(hub::kBuiltinPrefix)) return find_in(builtin_, name);
  if (auto exact = find_in(models_, name)) return exact;
  const auto owners = std::ranges::equal_range(by_short_name_, name, {},
                                               [](const auto& each) -> std::string_view { return each.first; });
  if (owners.empty()) return std::nullopt;
  if (owners.size() == 1) return models_[owners.front().second];
  std::string named;
  std::size_t count = 0;
  for (const auto& [short_name, place] : owners) {
    if (++count <= kMostNamed) named += (named.empty() ? "" : ", ") + models_[place].name;
  }
  if (count > kMostNamed) named += " and " + std::to_string(count - kMostNamed) + " more";
  throw make_error(ErrorCode::invalid_argument, "several models are called ", formats::quoted_name(name), ": ", named,
                   "; name one with its owner");
}

const NamedFolder* ModelIndex::default_model() const {
  if (models_.size() == 1) return &models_.front();
  const auto embedder = std::ranges::find(builtin_, hub::kBuiltinEmbedder, &NamedFolder::name);
  if (embedder != builtin_.end()) return &*embedder;
  return builtin_.size() == 1 ? &builtin_.front() : nullptr;
}

ModelIndexCache::ModelIndexCache(fs::path models_directory) : directory_(std::move(models_directory)) { read(); }

std::shared_ptr<const ModelIndex> ModelIndexCache::get() const {
  const std::lock_guard lock(mutex_);
  return index_;
}

// Requires `reading_`, or that no other thread knows this object yet.
std::shared_ptr<const ModelIndex> ModelIndexCache::read() {
  std::shared_ptr<const ModelIndex> made = ModelIndex::read(directory_);
  ++reads_;
  const std::lock_guard lock(mutex_);
  index_ = made;
  return made;
}

std::shared_ptr<const ModelIndex> ModelIndexCache::refreshed() {
  const std::unique_lock<std::mutex> reading(reading_, std::try_to_lock);
  std::shared_ptr<const ModelIndex> latest = get();
  return !reading.owns_lock() || Clock::now() < next_turn(*latest) ? latest : read();
}

std::shared_ptr<const ModelIndex> ModelIndexCache::newer_than(Clock::time_point since) {
  const std::lock_guard reading(reading_);
  std::shared_ptr<const ModelIndex> latest = get();
  if (latest->begun() > since) return latest;
  std::this_thread::sleep_until(next_turn(*latest));
  return read();
}

}  // namespace alate::server
