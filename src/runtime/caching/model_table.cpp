#include "runtime/caching/model_table.h"

#include <algorithm>

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
    if (entry.get() == &spared || entry->model == nullptr) continue;
    if (victim == nullptr || std::pair(entry->is_used(), entry->used) < std::pair(victim->is_used(), victim->used))
      victim = entry.get();
  }
  return victim == nullptr ? nullptr : remove(ModelKey(victim->key), "evicted");
}

}  // namespace alate::runtime
