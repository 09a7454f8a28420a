#include "backends/xla/device_weights.h"

#include <algorithm>

#include "graph/interpreter.h"

namespace alate::xla {

DeviceBuffer DeviceWeights::get(const graph::ConstantPtr& constant) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& found = entries_[constant->identity];
    if (found == nullptr) found = std::make_shared<Entry>();
    entry = found;
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->buffer != nullptr) return entry->buffer;
  entry->buffer = client_->upload(graph::materialize(*constant), device_, Transfer::borrowed);
  const std::lock_guard counting(mutex_);
  bytes_ += constant->shape.byte_count();
  return entry->buffer;
}

std::size_t DeviceWeights::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::shared_ptr<DeviceWeights> DeviceWeightsOfModels::of(const std::shared_ptr<backends::WeightStore>& store,
                                                         const std::shared_ptr<const Client>& client,
                                                         std::size_t device) {
  if (store == nullptr) return std::make_shared<DeviceWeights>(client, device);
  const std::lock_guard lock(mutex_);
  std::erase_if(rows_, [](const Row& row) { return row.store.expired() || row.weights.expired(); });
  for (const Row& row : rows_) {
    if (row.device != device || row.store.lock() != store) continue;
    if (std::shared_ptr<DeviceWeights> weights = row.weights.lock()) return weights;
  }
  auto made = std::make_shared<DeviceWeights>(client, device);
  rows_.push_back({store, device, made});
  return made;
}

}  // namespace alate::xla
