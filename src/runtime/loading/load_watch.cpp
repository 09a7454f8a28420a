#include "runtime/loading/load_watch.h"

#include <algorithm>

namespace alate::runtime {

void LoadWatch::begin(std::uint64_t bytes) {
  total_ = bytes;
  report(0);
}

void LoadWatch::prepared(const graph::Constant& constant) {
  if (told_ == nullptr || !told_->is_watched()) return;
  count(constant);
  // Weights of modules are in files of their own, so that there may be more than the model's.
  const std::uint64_t done = std::min(counted_, total_);
  if (done > reported_) report(done);
}

void LoadWatch::finish() {
  if (reported_ < total_ || total_ == 0) report(total_);
}

void LoadWatch::count(const graph::Constant& constant) {
  if (!seen_.insert(constant.identity).second) return;
  if (constant.is_leaf()) counted_ += constant.tensor.byte_count();
  for (const graph::ConstantPtr& operand : constant.operands) count(*operand);
}

void LoadWatch::report(std::uint64_t done) {
  reported_ = done;
  if (told_ != nullptr) told_->report({.stage = Progress::Stage::loading, .done = done, .total = total_});
}

}  // namespace alate::runtime
