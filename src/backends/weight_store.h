// The bytes of a model's weights in every layout in use, each made once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "alate/tensor.h"
#include "base/threads/mutex.h"
#include "graph/constant.h"

namespace alate::backends {

/// One for each model, shared by all its executables. Thread-safe; two callers that ask for the same weight get the
/// same bytes.
class WeightStore {
 public:
  /// Called when a mapped leaf's pages are no longer needed for now, because another layout of it has been made.
  using Release = std::function<void(const graph::Constant& leaf)>;

  explicit WeightStore(Release release = nullptr) : release_(std::move(release)) {}

  /// The constant's value, row-major on the host: a leaf's own (mapped) bytes, or a result folded once and kept.
  Tensor value(const graph::ConstantPtr& constant);

  /// The constant in the layout that `make` produces from its value, for a device; kept under (identity, layout,
  /// device). The folded value is not kept, and mapped pages are released.
  Tensor in_layout(const graph::ConstantPtr& constant, std::string_view layout, std::string_view device,
                   const std::function<Tensor(const Tensor&)>& make);

  /// Bytes held here: folded values and other layouts, without mapped bytes.
  std::size_t owned_bytes() const;

 private:
  using Key = std::tuple<Fingerprint, std::string, std::string>;
  struct Entry {
    std::once_flag once;
    Tensor tensor;
  };
  std::shared_ptr<Entry> entry(Key key);
  void release_leaves(const graph::Constant& constant) const;

  Release release_;
  mutable base::Mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::size_t owned_bytes_ = 0;
};

}  // namespace alate::backends
