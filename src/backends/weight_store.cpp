#include "backends/weight_store.h"

#include "backends/fold_constant.h"

namespace alate::backends {

const Buffer& WeightStore::get(Key key, const graph::Constant& constant, const std::function<Buffer()>& make) {
  if (watch_.before) watch_.before();
  const WeightMemory memory = key.memory;
  std::shared_ptr<Entry> found;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[std::move(key)];
    if (!entry) entry = std::make_shared<Entry>();
    found = entry;
  }
  std::call_once(found->once, [&] {
    found->buffer = make();
    const std::lock_guard lock(mutex_);
    bytes_[memory] += found->buffer.shape().byte_count();
  });
  if (watch_.after) watch_.after(constant);
  return found->buffer;  // entries are never removed
}

void WeightStore::release_leaves(const graph::Constant& constant) const {
  if (!release_) return;
  if (constant.is_leaf()) return release_(constant);
  for (const graph::ConstantPtr& operand : constant.operands) release_leaves(*operand);
}

Tensor WeightStore::value(const graph::ConstantPtr& constant) {
  if (constant->is_leaf()) return constant->tensor;
  return *get({.constant = constant->identity, .layout = {}, .memory = {}}, *constant, [&] {
            return fold_constant(*constant);
          }).host();
}

Tensor WeightStore::in_layout(const graph::ConstantPtr& constant, WeightLayout layout,
                              const std::function<Tensor(const Tensor&)>& make) {
  return *get({.constant = constant->identity, .layout = std::move(layout), .memory = {}}, *constant, [&] {
            Tensor made = make(fold_constant(*constant));
            release_leaves(*constant);
            return made;
          }).host();
}

Buffer WeightStore::on_device(const graph::ConstantPtr& constant, WeightMemory memory,
                              const std::function<Buffer(const Tensor&)>& upload) {
  return get({.constant = constant->identity, .layout = {}, .memory = memory}, *constant,
             [&] { return upload(fold_constant(*constant)); });
}

std::size_t WeightStore::owned_bytes() const { return bytes_on({}); }

std::size_t WeightStore::bytes_on(const WeightMemory& memory) const {
  const std::lock_guard lock(mutex_);
  const auto found = bytes_.find(memory);
  return found == bytes_.end() ? 0 : found->second;
}

}  // namespace alate::backends
