#include "backends/host_buffers.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "alate/error.h"
#include "base/hardware/cpu_facts.h"
#include "base/os/process_limits.h"

namespace alate::backends {

std::vector<Port> input_ports(const graph::Graph& graph) {
  std::vector<Port> ports;
  for (const graph::Parameter& parameter : graph.parameters()) ports.push_back({parameter.name, parameter.shape});
  return ports;
}

std::vector<Port> output_ports(const graph::Graph& graph) {
  std::vector<Port> ports;
  for (const graph::Output& output : graph.outputs()) ports.push_back({output.name, graph.shape(output.value)});
  return ports;
}

const Tensor& host_tensor(const Buffer& buffer) {
  if (buffer.host() == nullptr)
    throw Error(ErrorCode::invalid_argument,
                "a buffer is empty or another device's: upload the tensor with the backend that runs");
  return *buffer.host();
}

std::vector<Tensor> host_tensors(std::span<const Buffer> buffers) {
  std::vector<Tensor> tensors;
  tensors.reserve(buffers.size());
  for (const Buffer& buffer : buffers) tensors.push_back(host_tensor(buffer));
  return tensors;
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::less<> before;
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

void store_outputs(std::span<const Tensor> results, std::span<Buffer> outputs) {
  if (results.size() != outputs.size())
    throw make_error(ErrorCode::invalid_argument, "run was given ", outputs.size(), " output buffers for ",
                     results.size(), " outputs");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (outputs[i].empty()) {
      outputs[i] = results[i];
      continue;
    }
    Tensor to = host_tensor(outputs[i]);
    if (to.shape() != results[i].shape()) {
      throw make_error(ErrorCode::invalid_argument, "output ", i, " is ", to_string(results[i].shape()),
                       " but the buffer given for it is ", to_string(to.shape()));
    }
    if (to.byte_count() > 0 && !to.shares_storage_with(results[i]))
      std::memcpy(to.mutable_bytes().data(), results[i].bytes().data(), to.byte_count());
  }
}

Device host_device(std::string backend, std::string description) {
  const base::MemoryFacts memory = base::memory_facts();
  std::size_t total = memory.total_bytes;
  for (const std::size_t limit : {memory.limit_bytes, base::process_limits().limit_bytes}) {
    if (limit > 0) total = std::min(total, limit);
  }
  return {.backend = std::move(backend),
          .name = "cpu",
          .description = std::move(description),
          .total_bytes = total,
          .free_bytes = memory.available_bytes,
          .unified_memory = true};
}

}  // namespace alate::backends
