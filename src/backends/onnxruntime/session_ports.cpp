#include "backends/onnxruntime/session_ports.h"

#include "alate/error.h"
#include "backends/onnxruntime/value.h"

namespace alate::onnxruntime {
namespace {

constexpr std::string_view kWhat = "reading the model's inputs and outputs";

// A dim with a name of its own.
Dim fresh_dim(graph::DimTable& dims, const std::string& name) {
  std::string free = name;
  while (dims.find(free)) free += "'";
  return dims.named(free);
}

Shape shape_of(const Library& library, const abi::TypeInfo* info, const std::string& name, graph::DimTable& dims) {
  const abi::TensorTypeAndShape* type = nullptr;
  library.check<abi::CastTypeInfoToTensorInfo>(kWhat, info, &type);
  if (type == nullptr) throw make_error(ErrorCode::unsupported, "the model's '", name, "' is no tensor");
  int element = 0;
  library.check<abi::GetTensorElementType>(kWhat, type, &element);
  Shape shape{.dtype = dtype_of(element), .dims = {}};
  if (shape.dtype == DType::invalid)
    throw make_error(ErrorCode::unsupported, "the model's '", name, "' has elements of ONNX's type ", element);
  const std::vector<std::int64_t> extents = extents_of(library, type);
  std::vector<const char*> names(extents.size());
  library.check<abi::GetSymbolicDimensions>(kWhat, type, names.data(), names.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] >= 0)
      shape.dims.emplace_back(extents[i]);
    else if (names[i] != nullptr && *names[i] != 0)
      shape.dims.push_back(dims.named(names[i]));
    else
      shape.dims.push_back(fresh_dim(dims, name + "." + std::to_string(i)));
  }
  return shape;
}

template <typename Count, typename Name, typename Type>
std::vector<backends::Port> ports_of(const Library& library, const abi::Session* session, graph::DimTable& dims) {
  std::size_t count = 0;
  library.check<Count>(kWhat, session, &count);
  abi::Allocator* allocator = nullptr;
  library.check<abi::GetAllocatorWithDefaultOptions>(kWhat, &allocator);
  std::vector<backends::Port> ports;
  for (std::size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    library.check<Name>(kWhat, session, i, allocator, &name);
    backends::Port port{.name = name, .shape = {}};
    library.check<abi::AllocatorFree>(kWhat, allocator, static_cast<void*>(name));
    abi::TypeInfo* info = nullptr;
    library.check<Type>(kWhat, session, i, &info);
    const Owned<abi::TypeInfo> owned = library.own<abi::ReleaseTypeInfo>(info);
    port.shape = shape_of(library, info, port.name, dims);
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<std::string> names_of(const std::vector<backends::Port>& ports) {
  std::vector<std::string> names;
  for (const backends::Port& port : ports) names.push_back(port.name);
  return names;
}

}  // namespace

SessionParts read_ports(const Library& library, Owned<abi::Session> session) {
  auto dims = std::make_shared<graph::DimTable>();
  const abi::Session* const of = session.get();
  std::vector<backends::Port> inputs =
      ports_of<abi::SessionGetInputCount, abi::SessionGetInputName, abi::SessionGetInputTypeInfo>(library, of, *dims);
  std::vector<backends::Port> outputs =
      ports_of<abi::SessionGetOutputCount, abi::SessionGetOutputName, abi::SessionGetOutputTypeInfo>(library, of,
                                                                                                     *dims);
  std::vector<std::string> input_names = names_of(inputs), output_names = names_of(outputs);
  return {.session = std::move(session),
          .dims = std::move(dims),
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .input_names = std::move(input_names),
          .output_names = std::move(output_names),
          .has_exact_ports = false};
}

}  // namespace alate::onnxruntime
