#include "server/models/model_index.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "alate/error.h"
#include "base/ascii_case.h"
#include "base/log.h"
#include "folders/builtin_models.h"
#include "folders/hub_models.h"
#include "folders/model_reference.h"
#include "folders/model_variants.h"
#include "formats/json.h"

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

std::shared_ptr<const ModelIndex> ModelIndex::read(const folders::ModelPlaces& places) {
  auto index = std::make_shared<ModelIndex>();
  index->begun_ = Clock::now();
  for (const std::string& name : folders::list_models(places.models_directory))
    index->models_.push_back({name, places.models_directory / fs::path(name), {}});
  if (places.hub_cache) {
    for (folders::HubModel& model : folders::list_hub_models(*places.hub_cache))
      index->models_.push_back({std::move(model.id), std::move(model.folder), {}});
  }
  std::ranges::stable_sort(index->models_, {}, &NamedFolder::name);  // those of the models directory first
  const auto hidden = std::ranges::unique(index->models_, {}, &NamedFolder::name);
  index->models_.erase(hidden.begin(), hidden.end());
  for (std::size_t i = 0; i < index->models_.size(); ++i) {
    const std::string& name = index->models_[i].name;
    if (const std::size_t slash = name.find('/'); slash != std::string::npos)
      index->by_short_name_.emplace_back(name.substr(slash + 1), i);
  }
  std::ranges::sort(index->by_short_name_);
  for (const std::string& name : folders::list_builtin_models()) {
    try {
      index->builtin_.push_back({name, folders::resolve_builtin_model(name), {}});
    } catch (const Error&) {
      continue;  // it has disappeared since it was listed
    }
  }
  for (const NamedFolder& model : index->models_) index->add_variants(model);
  for (const NamedFolder& model : index->builtin_) index->add_variants(model);
  index->took_ = Clock::now() - index->begun_;
  return index;
}

// A variant with a faulty file or manifest is not offered; the model itself is, and loading it reports the error.
void ModelIndex::add_variants(const NamedFolder& model) {
  try {
    for (const folders::ModelVariant& variant : folders::list_variants(model.folder)) {
      if (variant.name.empty()) continue;
      variants_[model.folder].emplace_back(variant.name,
                                           NamedFolder{model.name + ":" + variant.name, model.folder,
                                                       folders::variant_file(model.folder, variant, model.name)});
    }
  } catch (const Error& error) {
    base::log(base::LogLevel::debug, "variants are not offered", {{"model", model.name}, {"error", error.message()}});
  }
}

std::optional<NamedFolder> ModelIndex::find_variant(const NamedFolder& model, std::string_view variant) const {
  const auto found = variants_.find(model.folder);
  if (found == variants_.end()) return std::nullopt;
  const std::string wanted = base::ascii_lower(variant);
  for (const auto& [name, named] : found->second) {
    if (base::ascii_lower(name) == wanted) return named;
  }
  return std::nullopt;
}

std::vector<std::string> ModelIndex::variants_of(const NamedFolder& model) const {
  std::vector<std::string> names;
  const auto found = variants_.find(model.folder);
  if (found == variants_.end()) return names;
  for (const auto& [name, named] : found->second) names.push_back(name);
  return names;
}

std::optional<NamedFolder> ModelIndex::find(std::string_view name) const {
  if (name.starts_with(folders::kBuiltinPrefix)) return find_in(builtin_, name);
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
  const auto embedder = std::ranges::find(builtin_, folders::kBuiltinEmbedder, &NamedFolder::name);
  if (embedder != builtin_.end()) return &*embedder;
  return builtin_.size() == 1 ? &builtin_.front() : nullptr;
}

ModelIndexCache::ModelIndexCache(folders::ModelPlaces places) : places_(std::move(places)) { read(); }

std::shared_ptr<const ModelIndex> ModelIndexCache::get() const {
  const std::lock_guard lock(mutex_);
  return index_;
}

// Requires `reading_`, or that no other thread knows this object yet.
std::shared_ptr<const ModelIndex> ModelIndexCache::read() {
  std::shared_ptr<const ModelIndex> made = ModelIndex::read(places_);
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
