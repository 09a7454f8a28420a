// An LRU cache of compiled graphs, by what they compute.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/backend.h"
#include "base/threads/mutex.h"

namespace alate::array {

/// Thread-safe. Callers that want the same graph at the same time wait for one compilation; others do not wait for it.
class ExecutableCache {
 public:
  explicit ExecutableCache(std::size_t most) : most_(most) {}

  /// The executable of this key, made when missing. Throws what `make` throws; the next call tries again.
  std::shared_ptr<backends::Executable> get(const std::string& key,
                                            const std::function<std::unique_ptr<backends::Executable>()>& make);
  std::size_t size() const;

 private:
  struct Entry {
    std::once_flag once;
    std::shared_ptr<backends::Executable> executable;
    std::list<std::string>::iterator place;
  };
  std::shared_ptr<Entry> entry(const std::string& key);

  std::size_t most_;
  mutable base::Mutex mutex_;
  std::list<std::string> order_;  // the most recently used first
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace alate::array
