#include "runtime/caching/model_table.h"

#include <algorithm>

#include "alate/error.h"
#include "base/log.h"

namespace alate::runtime {

std::shared_ptr<CacheEntry> ModelTable::find(const ModelKey& key) const {
  const auto redirect = redirects_.find(key);
  const auto found = entries_.find(redirect == redirects_.end() ? key : redirect->second);
  return found == entries_.end() ? nullptr : found->second;
}

std::shared_ptr<CacheEntry> ModelTable::find_on(const ModelKey& key, std::string_view place,
                                                const CacheEntry* other) const {
  for (const auto& [each, entry] : entries_) {
    if (entry->model == nullptr || entry.get() == other || each.model != key.model || each.options != key.options)
      continue;
    if (entry->model->place() == place) return entry;
  }
  return nullptr;
}

bool ModelTable::has(const CacheEntry& entry) const {
  const auto found = entries_.find(entry.key);
  return found != entries_.end() && found->second.get() == &entry;
}

void ModelTable::add(std::shared_ptr<CacheEntry> entry) {
  entries_.insert_or_assign(ModelKey(entry->key), std::move(entry));
}

ModelCache::Held ModelTable::remove(const ModelKey& key, std::string_view why) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  const std::shared_ptr<CacheEntry> entry = std::move(found->second);
  entries_.erase(found);
  std::erase_if(redirects_, [&](const auto& redirect) { return redirect.second == entry->key; });
  if (entry->model != nullptr)
    base::log(base::LogLevel::info, "model unloaded", {{"model", entry->key.model}, {"why", std::string(why)}});
  return std::exchange(entry->model, nullptr);
}

ModelTable::Entries ModelTable::clear() {
  redirects_.clear();
  return std::exchange(entries_, {});
}

bool ModelTable::fits(const CacheEntry& entry) const {
  std::size_t models = 0, bytes = 0;
  for (const auto& [key, each] : entries_) {
    if (each.get() != &entry && !each->takes_room) continue;
    ++models;
    bytes += each->bytes;
  }
  return (most_models_ == 0 || models <= most_models_) && (most_bytes_ == 0 || bytes <= most_bytes_);
}

bool ModelTable::others_load(const CacheEntry& entry) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    return each.second.get() != &entry && each.second->takes_room && each.second->model == nullptr;
  });
}

ModelCache::Held ModelTable::evict_one(const CacheEntry& spared) {
  const CacheEntry* victim = nullptr;
  for (const auto& [key, entry] : entries_) {
    if (entry.get() == &spared || entry->model == nullptr || entry->is_used()) continue;
    if (victim == nullptr || entry->used < victim->used) victim = entry.get();
  }
  return victim == nullptr ? nullptr : remove(ModelKey(victim->key), "evicted");
}

Error ModelTable::no_room(const CacheEntry& entry) const {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  const auto megabytes = [](std::size_t bytes) { return (bytes + kMegabyte - 1) / kMegabyte; };
  std::string others;
  std::size_t taken = 0, count = 0;
  for (const auto& [key, each] : entries_) {
    if (each.get() == &entry || !each->takes_room) continue;
    others += (others.empty() ? "" : ", ") + key.model;
    taken += each->bytes;
    ++count;
  }
  if (others.empty())
    return make_error(ErrorCode::resource_exhausted, "the model ", entry.key.model, " takes ", megabytes(entry.bytes),
                      " MB, and all models together may take ", most_bytes_ / kMegabyte,
                      " MB: allow more, or choose "
                      "a smaller one");
  if (most_models_ > 0 && count >= most_models_)
    return make_error(ErrorCode::resource_exhausted, "there is no place in memory for the model ", entry.key.model,
                      ": ", most_models_, " may be loaded, and all that are, are in use (", others,
                      "); try again later, or allow more");
  return make_error(ErrorCode::resource_exhausted, "there is no room in memory for the model ", entry.key.model,
                    ": it takes ", megabytes(entry.bytes), " MB, and of ", most_bytes_ / kMegabyte,
                    " MB for all models ", megabytes(taken), " MB are taken by models in use (", others,
                    "); try again later, or allow more");
}

}  // namespace alate::runtime
