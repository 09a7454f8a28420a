#include "backends/plugin/arrays.h"

namespace alate::plugin {

Arrays::Arrays(std::span<const Tensor> tensors)
    : dtypes_(tensors.size()), dims_(tensors.size()), arrays_(tensors.size()) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    dtypes_[i] = to_string(tensor.dtype());
    for (const Dim dim : tensor.shape().dims) dims_[i].push_back(dim.number());
    alate_array& array = arrays_[i];
    array.struct_size = sizeof array;
    array.dtype = dtypes_[i].c_str();
    array.dims = dims_[i].data();
    array.rank = dims_[i].size();
    array.data = const_cast<std::byte*>(tensor.bytes().data());
    array.bytes = tensor.byte_count();
    array.written = 0;
    read_.push_back(&array);
    write_.push_back(&array);
  }
}

}  // namespace alate::plugin
