#include "pipelines/generate/known_grammars.h"

#include <algorithm>
#include <mutex>
#include <span>

#include "base/sha256.h"

namespace alate::pipelines {

std::shared_ptr<const generation::Grammar> KnownGrammars::of(const std::string& key, const Make& make) const {
  const std::string hash = base::Sha256().add(std::as_bytes(std::span(key))).finish();
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(grammars_, hash, &decltype(grammars_)::value_type::first);
    if (found != grammars_.end()) {
      grammars_.splice(grammars_.begin(), grammars_, found);
      return found->second;
    }
  }
  // Two that need the same one at the same time make it twice.
  std::shared_ptr<const generation::Grammar> made = make();
  const std::lock_guard lock(mutex_);
  grammars_.emplace_front(hash, made);
  if (grammars_.size() > kMost) grammars_.pop_back();
  return made;
}

}  // namespace alate::pipelines
