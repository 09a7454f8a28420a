// Values in host memory or on a device.
#pragma once

#include <memory>
#include <utility>

#include "alate/tensor.h"

namespace alate::backends {

/// Bytes on a device with a shape; copies share the bytes. A buffer in host memory is a Tensor.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Tensor host) : shape_(host.shape()), host_(std::move(host)) {}  // NOLINT(google-explicit-constructor)
  /// `device_memory` is the backend's own handle; the buffer keeps it alive.
  Buffer(Shape shape, std::shared_ptr<void> device_memory)
      : shape_(std::move(shape)), device_memory_(std::move(device_memory)) {}

  bool empty() const { return shape_.dtype == DType::invalid; }
  const Shape& shape() const { return shape_; }
  const Tensor* host() const { return host_.empty() ? nullptr : &host_; }
  const std::shared_ptr<void>& device_memory() const { return device_memory_; }

 private:
  Shape shape_;
  Tensor host_;
  std::shared_ptr<void> device_memory_;
};

}  // namespace alate::backends
