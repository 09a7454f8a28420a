// Conversion between our tensors and ONNX Runtime's values.
#pragma once

#include "alate/tensor.h"
#include "backends/onnxruntime/library.h"

namespace alate::onnxruntime {

using OwnedValue = Owned<abi::Value>;

/// The library's number for an element type; for complex numbers, that of their parts. Throws unsupported for a type
/// that it lacks.
int element_type(DType dtype);
/// The inverse, without complex numbers; invalid for a type that we do not have.
DType dtype_of(int element_type);

/// A value over the tensor's memory, which must outlive it. Complex numbers become pairs along an added last axis.
OwnedValue value_over(const Library& library, const Tensor& tensor);

/// A value made by the library as a tensor, without a copy: the tensor owns the value. Throws unsupported for values
/// that are no tensor of a type that we have.
Tensor tensor_of(const Library& library, OwnedValue value);

/// The extents of a tensor's type; -1 for an unknown one.
std::vector<std::int64_t> extents_of(const Library& library, const abi::TensorTypeAndShape* type);

}  // namespace alate::onnxruntime
