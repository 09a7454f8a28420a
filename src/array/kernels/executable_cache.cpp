#include "array/kernels/executable_cache.h"

namespace alate::array {

std::shared_ptr<ExecutableCache::Entry> ExecutableCache::entry(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& found = entries_[key];
  if (found != nullptr) {
    order_.splice(order_.begin(), order_, found->place);
    return found;
  }
  found = std::make_shared<Entry>();
  order_.push_front(key);
  found->place = order_.begin();
  const std::shared_ptr<Entry> made = found;
  if (entries_.size() > most_) {
    entries_.erase(order_.back());
    order_.pop_back();
  }
  return made;
}

std::shared_ptr<backends::Executable> ExecutableCache::get(
    const std::string& key, const std::function<std::unique_ptr<backends::Executable>()>& make) {
  const std::shared_ptr<Entry> found = entry(key);
  // When `make` throws, the next caller tries again: an entry without an executable counts as none.
  std::call_once(found->once, [&] { found->executable = make(); });
  return found->executable;
}

std::size_t ExecutableCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace alate::array
