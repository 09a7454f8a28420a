// Client's functions for transfers to devices and back.
#include <algorithm>

#include "alate/error.h"
#include "backends/xla/client.h"
#include "tensor/packed.h"

namespace alate::xla {

DeviceBuffer Client::owned(abi::Buffer* buffer) const {
  return {buffer, [client = shared_from_this()](abi::Buffer* owned) {
            abi::BufferCall destroy;
            destroy.buffer = owned;
            client->plugin_->try_call(&abi::Api::buffer_destroy, destroy);
          }};
}

// The plugin takes elements of fewer than eight bits unpacked, one in each byte.
DeviceBuffer Client::upload(const Tensor& packed, std::size_t device, Transfer transfer) const {
  const Tensor tensor = tensor::is_packed(packed.dtype()) ? tensor::unpacked(packed) : packed;
  std::vector<std::int64_t> dims;
  for (const Dim dim : tensor.shape().dims) dims.push_back(dim.number());
  abi::BufferFromHost from;
  from.client = client_;
  from.data = tensor.bytes().data();
  from.type = static_cast<int>(packed.dtype());  // PJRT's numbers equal ours
  from.dims = dims.data();
  from.rank = dims.size();
  from.semantics = transfer == Transfer::borrowed ? abi::HostBuffer::zero_copy : abi::HostBuffer::only_during_call;
  from.device = devices_.at(device);
  plugin_->call(&abi::Api::client_buffer_from_host, from, "uploading to xla");
  if (transfer == Transfer::copied || from.done == nullptr || is_ready(from.done)) {
    DeviceBuffer buffer = owned(from.buffer);
    await(from.done, "uploading to xla");
    return buffer;
  }
  // The event comes when the device no longer reads the tensor's memory: after a transfer, or when the buffer that
  // stands for that memory is gone.
  return {from.buffer, [client = shared_from_this(), done = from.done, tensor](abi::Buffer* owned) {
            abi::BufferCall destroy;
            destroy.buffer = owned;
            client->plugin_->try_call(&abi::Api::buffer_destroy, destroy);
            abi::EventCall wait;
            wait.event = done;
            client->plugin_->try_call(&abi::Api::event_await, wait);
            client->destroy(done);
          }};
}

Shape Client::shape_of(const DeviceBuffer& buffer) const {
  abi::BufferType type;
  type.buffer = buffer.get();
  plugin_->call(&abi::Api::buffer_element_type, type, "asking for the type of xla's result");
  abi::BufferDims dims;
  dims.buffer = buffer.get();
  plugin_->call(&abi::Api::buffer_dims, dims, "asking for the shape of xla's result");
  Shape shape{static_cast<DType>(type.type), {}};
  for (std::size_t i = 0; i < dims.rank; ++i) shape.dims.emplace_back(dims.dims[i]);
  return shape;
}

void Client::read(const DeviceBuffer& buffer, std::span<std::byte> bytes) const {
  if (bytes.empty()) return;
  abi::BufferToHost to;
  to.buffer = buffer.get();
  to.to = bytes.data();
  to.size = bytes.size();
  plugin_->call(&abi::Api::buffer_to_host, to, "downloading from xla");
  await(to.done, "downloading from xla");
}

Tensor Client::download(const DeviceBuffer& buffer) const {
  const Shape shape = shape_of(buffer);
  Tensor tensor = Tensor::uninitialized({tensor::carrier_of(shape.dtype), shape.dims});
  read(buffer, tensor.mutable_bytes());
  return tensor::is_packed(shape.dtype) ? tensor::packed(tensor, shape.dtype) : tensor;
}

void Client::download_into(const DeviceBuffer& buffer, Tensor& tensor) const {
  const Shape shape = shape_of(buffer);
  if (tensor.shape() != shape)
    throw make_error(ErrorCode::invalid_argument, "the result is ", to_string(shape),
                     " but the buffer given for it is ", to_string(tensor.shape()));
  if (!tensor::is_packed(shape.dtype)) return read(buffer, tensor.mutable_bytes());
  const Tensor found = download(buffer);
  std::copy(found.bytes().begin(), found.bytes().end(), tensor.mutable_bytes().begin());
}

std::uintptr_t Client::address_of(const DeviceBuffer& buffer) const {
  abi::BufferPointer pointer;
  pointer.buffer = buffer.get();
  return plugin_->try_call(&abi::Api::buffer_unsafe_pointer, pointer) ? pointer.address : 0;
}

}  // namespace alate::xla
