// The grammars of the latest requests' answers.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "base/threads/mutex.h"
#include "generation/constraint/grammar.h"

namespace alate::pipelines {

/// Agents send the same tools with every turn. Thread-safe.
class KnownGrammars {
 public:
  using Make = std::function<std::shared_ptr<const generation::Grammar>()>;

  /// What `make` gave for this key before, if that is not too long ago; what it throws is not kept.
  std::shared_ptr<const generation::Grammar> of(const std::string& key, const Make& make) const;

 private:
  static constexpr std::size_t kMost = 16;

  mutable base::Mutex mutex_;
  // Under it, by the hashes of their keys; the one that was used last comes first.
  mutable std::list<std::pair<std::string, std::shared_ptr<const generation::Grammar>>> grammars_;
};

}  // namespace alate::pipelines
