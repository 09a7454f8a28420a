#include "backends/onnxruntime/value.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"

namespace alate::onnxruntime {
namespace {

// TensorProto.DataType: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
constexpr std::array<std::pair<DType, int>, 20> kTypes{{
    {DType::f32, 1},       {DType::u8, 2},      {DType::i8, 3},          {DType::u16, 4},   {DType::i16, 5},
    {DType::i32, 6},       {DType::i64, 7},     {DType::boolean, 9},     {DType::f16, 10},  {DType::f64, 11},
    {DType::u32, 12},      {DType::u64, 13},    {DType::c64, 1},         {DType::c128, 11}, {DType::bf16, 16},
    {DType::f8e4m3fn, 17}, {DType::f8e5m2, 19}, {DType::f8e4m3fnuz, 18}, {DType::u4, 21},   {DType::i4, 22},
}};

}  // namespace

int element_type(DType dtype) {
  const auto row = std::ranges::find(kTypes, dtype, &std::pair<DType, int>::first);
  if (row == kTypes.end())
    throw make_error(ErrorCode::unsupported, "ONNX Runtime has no tensors of ", to_string(dtype));
  return row->second;
}

DType dtype_of(int element_type) {
  const auto row = std::ranges::find(kTypes, element_type, &std::pair<DType, int>::second);
  return row == kTypes.end() ? DType::invalid : row->first;
}

OwnedValue value_over(const Library& library, const Tensor& tensor) {
  std::vector<std::int64_t> dims;
  dims.reserve(tensor.rank() + 1);
  for (const Dim dim : tensor.shape().dims) dims.push_back(dim.number());
  if (is_complex(tensor.dtype())) dims.push_back(2);
  abi::Value* value = nullptr;
  library.check<abi::CreateTensorWithDataAsOrtValue>("handing a tensor to onnx", library.host_memory(),
                                                     const_cast<std::byte*>(tensor.bytes().data()), tensor.byte_count(),
                                                     static_cast<const std::int64_t*>(dims.data()), dims.size(),
                                                     element_type(tensor.dtype()), &value);
  return library.own<abi::ReleaseValue>(value);
}

Tensor tensor_of(const Library& library, OwnedValue value) {
  constexpr std::string_view kWhat = "reading what onnx computed";
  int is_tensor = 0;
  library.check<abi::IsTensor>(kWhat, static_cast<const abi::Value*>(value.get()), &is_tensor);
  if (is_tensor == 0) throw Error(ErrorCode::unsupported, "an output of the model is no tensor");
  abi::TensorTypeAndShape* found = nullptr;
  library.check<abi::GetTensorTypeAndShape>(kWhat, static_cast<const abi::Value*>(value.get()), &found);
  const auto type = library.own<abi::ReleaseTensorTypeAndShapeInfo>(found);
  int element = 0;
  library.check<abi::GetTensorElementType>(kWhat, static_cast<const abi::TensorTypeAndShape*>(found), &element);
  Shape shape{.dtype = dtype_of(element), .dims = {}};
  if (shape.dtype == DType::invalid)
    throw make_error(ErrorCode::unsupported, "an output of the model has elements of ONNX's type ", element);
  for (const std::int64_t extent : extents_of(library, found)) {
    if (extent < 0) throw make_error(ErrorCode::corrupt, "an output of the model has an extent of ", extent);
    shape.dims.emplace_back(extent);
  }
  void* data = nullptr;
  library.check<abi::GetTensorMutableData>(kWhat, value.get(), &data);
  std::shared_ptr<const void> owner(std::move(value));
  return Tensor::borrow(std::move(shape), static_cast<const std::byte*>(data), std::move(owner));
}

std::vector<std::int64_t> extents_of(const Library& library, const abi::TensorTypeAndShape* type) {
  std::size_t rank = 0;
  library.check<abi::GetDimensionsCount>("reading a shape of onnx", type, &rank);
  std::vector<std::int64_t> extents(rank);
  library.check<abi::GetDimensions>("reading a shape of onnx", type, extents.data(), rank);
  return extents;
}

}  // namespace alate::onnxruntime
