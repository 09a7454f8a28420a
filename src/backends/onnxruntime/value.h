// Tensors of ours as values of ONNX Runtime, and back.
#pragma once

#include "alate/tensor.h"
#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

using OwnedValue = Owned<abi::Value>;

/// The library's number of an element type; of complex numbers it is their parts'. Throws unsupported for one that it
/// lacks.
int element_type(DType dtype);
/// The inverse, without complex numbers; invalid for what we do not have.
DType dtype_of(int element_type);

/// Over the tensor's memory, which must outlive the value. Complex numbers become pairs along a last axis.
OwnedValue value_over(const Library& library, const Tensor& tensor);

/// What the library made, where it lies, without a copy: the tensor owns the value. Throws unsupported for what is no
/// tensor of a type that we have.
Tensor tensor_of(const Library& library, OwnedValue value);

/// The extents of a tensor's type; -1 where one is not known.
std::vector<std::int64_t> extents_of(const Library& library, const abi::TensorTypeAndShape* type);

}  // namespace alate::onnxruntime
