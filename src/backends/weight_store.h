// The bytes of a model's weights in every layout in use and on every device, each made once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "alate/tensor.h"
#include "backends/buffer.h"
#include "base/threads/mutex.h"
#include "graph/constant.h"

namespace alate::backends {

/// How the bytes of a weight are arranged: row-major, or as a kernel reads them. Layouts are the same where all members
/// are equal.
struct WeightLayout {
  enum class Role : std::uint8_t { elements, scales };

  std::string_view kernel = {};    // the kernel's spelling, in static storage; empty: row-major
  Role role = Role::elements;      // what the constant is to the kernel: a weight, or a quantized weight's scales
  graph::Numbers parameters = {};  // what else the layout depends on: instruction set, number of groups, …

  auto operator<=>(const WeightLayout&) const = default;
};

/// The memory that a weight's bytes are in: the host's, or a device's of a backend.
struct WeightMemory {
  std::string_view backend = {};  // Backend::name, in static storage; empty: the host
  std::size_t device = 0;         // its index among the backend's devices

  auto operator<=>(const WeightMemory&) const = default;
};

/// One for each model, shared by all its executables. Thread-safe; two callers that ask for the same bytes get the same
/// buffer.
class WeightStore {
 public:
  /// Called when a mapped leaf's pages are no longer needed for now, because another layout of it has been made.
  using Release = std::function<void(const graph::Constant& leaf)>;

  /// Called for each constant that somebody asks for, before and after it is prepared, on the asking thread and while
  /// the store holds no lock. What they throw ends the preparation.
  struct Watch {
    std::function<void()> before = {};
    std::function<void(const graph::Constant&)> after = {};
  };

  explicit WeightStore(Release release = nullptr) : release_(std::move(release)) {}
  WeightStore(Release release, Watch watch) : release_(std::move(release)), watch_(std::move(watch)) {}

  /// The constant's value, row-major on the host: a leaf's own (mapped) bytes, or a result folded once and kept.
  Tensor value(const graph::ConstantPtr& constant);

  /// The constant in the layout that `make` produces from its value, on the host. The folded value is not kept, and
  /// mapped pages are released.
  Tensor in_layout(const graph::ConstantPtr& constant, WeightLayout layout,
                   const std::function<Tensor(const Tensor&)>& make);

  /// The constant's value, row-major on a device, where `upload` brings it. A buffer may go on reading the value's own
  /// bytes.
  Buffer on_device(const graph::ConstantPtr& constant, WeightMemory memory,
                   const std::function<Buffer(const Tensor&)>& upload);

  /// Bytes held on the host: folded values and other layouts, without mapped bytes.
  std::size_t owned_bytes() const;
  /// Bytes held on a device.
  std::size_t bytes_on(const WeightMemory& memory) const;

 private:
  struct Key {
    Fingerprint constant;
    WeightLayout layout;
    WeightMemory memory;

    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    std::once_flag once;
    Buffer buffer;
  };
  const Buffer& get(Key key, const graph::Constant& constant, const std::function<Buffer()>& make);
  void release_leaves(const graph::Constant& constant) const;

  Release release_;
  Watch watch_;
  mutable base::Mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::map<WeightMemory, std::size_t> bytes_;
};

}  // namespace alate::backends
