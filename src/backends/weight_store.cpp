#include "backends/weight_store.h"

#include "graph/interpreter.h"

namespace alate::backends {

std::shared_ptr<WeightStore::Entry> WeightStore::entry(Key key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& found = entries_[std::move(key)];
  if (!found) found = std::make_shared<Entry>();
  return found;
}

void WeightStore::release_leaves(const graph::Constant& constant) const {
  if (!release_) return;
  if (constant.is_leaf()) return release_(constant);
  for (const graph::ConstantPtr& operand : constant.operands) release_leaves(*operand);
}

Tensor WeightStore::value(const graph::ConstantPtr& constant) {
  if (constant->is_leaf()) return constant->tensor;
  const std::shared_ptr<Entry> found = entry({constant->identity, "value", "host"});
  std::call_once(found->once, [&] {
    found->tensor = graph::materialize(*constant);
    const std::lock_guard lock(mutex_);
    owned_bytes_ += found->tensor.byte_count();
  });
  return found->tensor;
}

Tensor WeightStore::in_layout(const graph::ConstantPtr& constant, std::string_view layout, std::string_view device,
                              const std::function<Tensor(const Tensor&)>& make) {
  const std::shared_ptr<Entry> found = entry({constant->identity, std::string(layout), std::string(device)});
  std::call_once(found->once, [&] {
    found->tensor = make(graph::materialize(*constant));
    release_leaves(*constant);
    const std::lock_guard lock(mutex_);
    owned_bytes_ += found->tensor.byte_count();
  });
  return found->tensor;
}

std::size_t WeightStore::owned_bytes() const {
  const std::lock_guard lock(mutex_);
  return owned_bytes_;
}

}  // namespace alate::backends
