// Tensors in the form of the plugin interface.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "alate/backend_abi.h"
#include "alate/tensor.h"

namespace alate::plugin {

/// C descriptions of tensors, which must live as long as this. Neither copied nor moved: the structs point into each
/// other.
class Arrays {
 public:
  explicit Arrays(std::span<const Tensor> tensors);
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  /// One for each tensor, to be read.
  std::span<const alate_array* const> read() const { return read_; }
  /// The same, to be written where the tensors are writable.
  std::span<alate_array* const> write() const { return write_; }

 private:
  std::vector<std::string> dtypes_;
  std::vector<std::vector<std::int64_t>> dims_;
  std::vector<alate_array> arrays_;
  std::vector<const alate_array*> read_;
  std::vector<alate_array*> write_;
};

}  // namespace alate::plugin
