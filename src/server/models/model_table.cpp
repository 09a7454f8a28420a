#include "server/models/model_table.h"

#include <utility>

#include "base/log.h"

namespace alate::server {

// A line break is a safe separator: model names contain none.
std::string model_key(std::string_view name, std::string_view backend) {
  return backend.empty() ? std::string(name) : std::string(name) + "\n" + std::string(backend);
}

std::string place_of(const HostedModel& model) {
  const Selection& selection = model.pipelines.facts().selection;
  return selection.backend + ":" + selection.device_index;
}

bool HostEntry::is_used() const { return hosted.use_count() > 1 || hosted->scheduler->depth().jobs > 0; }

HostEntry* ModelTable::find_on(const std::string& name, std::string_view backend, const HostedModel* other) {
  for (auto& [key, entry] : entries) {
    if (entry.hosted == nullptr || entry.hosted.get() == other || entry.model.name != name) continue;
    if (place_of(*entry.hosted) == backend) return &entry;
  }
  return nullptr;
}

bool ModelTable::fits(const std::string& key) const {
  std::size_t models = 0, bytes = 0;
  for (const auto& [other, entry] : entries) {
    if (other != key && !entry.takes_room) continue;
    ++models;
    bytes += entry.bytes;
  }
  return (limits.models == 0 || models <= limits.models) && (limits.bytes == 0 || bytes <= limits.bytes);
}

std::shared_ptr<HostedModel> ModelTable::evict_one(const std::string& spared) {
  const HostEntry* victim = nullptr;
  for (const auto& [key, entry] : entries) {
    if (key == spared || entry.hosted == nullptr) continue;
    if (victim == nullptr || std::pair(entry.is_used(), entry.used) < std::pair(victim->is_used(), victim->used))
      victim = &entry;
  }
  return victim == nullptr ? nullptr : remove(model_key(victim->model.name, victim->backend), "evicted");
}

std::shared_ptr<HostedModel> ModelTable::remove(std::string_view key, std::string_view why) {
  const auto found = entries.find(key);
  if (found == entries.end() || found->second.hosted == nullptr) return nullptr;
  base::log(base::LogLevel::info, "model unloaded", {{"model", found->second.model.name}, {"why", std::string(why)}});
  std::shared_ptr<HostedModel> hosted = std::move(found->second.hosted);
  std::erase_if(aliases, [&](const auto& alias) { return alias.second == found->first; });
  entries.erase(found);
  return hosted;
}

}  // namespace alate::server
