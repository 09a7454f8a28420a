// Weights that are read under a load's watch.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/threads/cancellation.h"
#include "formats/weight_source.h"

namespace alate::runtime {

/// Another source's tensors; throws cancelled before the next one is read once that is requested. `source` must outlive
/// it.
class WatchedSource final : public formats::WeightSource {
 public:
  WatchedSource(const formats::WeightSource& source, const base::Cancellation& cancellation)
      : source_(source), cancellation_(cancellation) {}

  std::vector<std::string_view> names() const override { return source_.names(); }
  std::optional<formats::WeightInfo> info(std::string_view name) const override { return source_.info(name); }
  Tensor tensor(std::string_view name) const override {
    cancellation_.check();
    return source_.tensor(name);
  }
  Fingerprint identity(std::string_view name) const override { return source_.identity(name); }
  void release(std::string_view name) const override { source_.release(name); }
  void require_unchanged() const override { source_.require_unchanged(); }
  std::vector<formats::WeightFile> files() const override { return source_.files(); }

 private:
  const formats::WeightSource& source_;
  const base::Cancellation cancellation_;
};

}  // namespace alate::runtime
