// A model's constants on one device.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "backends/weight_store.h"
#include "backends/xla/client.h"
#include "base/threads/mutex.h"

namespace alate::xla {

/// Each constant is uploaded once for all programs of the model, at its first use, and stays as long as any of them.
/// Where the device reads host memory, there is no second copy. Thread-safe.
class DeviceWeights {
 public:
  DeviceWeights(std::shared_ptr<const Client> client, std::size_t device)
      : client_(std::move(client)), device_(device) {}

  DeviceBuffer get(const graph::ConstantPtr& constant);
  std::size_t bytes() const;

 private:
  struct Entry {
    base::Mutex mutex;
    DeviceBuffer buffer;  // null until it is uploaded
  };

  std::shared_ptr<const Client> client_;
  std::size_t device_;
  mutable base::Mutex mutex_;
  std::map<Fingerprint, std::shared_ptr<Entry>> entries_;
  std::size_t bytes_ = 0;
};

/// The weights of each model on each device. Models are identified by their stores. Thread-safe.
class DeviceWeightsOfModels {
 public:
  std::shared_ptr<DeviceWeights> of(const std::shared_ptr<backends::WeightStore>& store,
                                    const std::shared_ptr<const Client>& client, std::size_t device);

 private:
  struct Row {
    std::weak_ptr<backends::WeightStore> store;
    std::size_t device;
    std::weak_ptr<DeviceWeights> weights;
  };
  base::Mutex mutex_;
  std::vector<Row> rows_;
};

}  // namespace alate::xla
