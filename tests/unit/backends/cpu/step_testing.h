// Runs graphs on the cpu backend and compares with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "tensor/element.h"

namespace alate::cpu {

inline Tensor random_tensor(DType dtype, const std::vector<std::int64_t>& extents, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> between(-1, 1);
  Shape shape{dtype, {}};
  for (const std::int64_t extent : extents) shape.dims.emplace_back(extent);
  Tensor tensor = Tensor::zeros(shape);
  const DType part = dtype == DType::c64 ? DType::f32 : (dtype == DType::c128 ? DType::f64 : dtype);
  const std::size_t bytes = bits_of(part) / 8;
  const double scale = is_integer(dtype) ? 100 : 1;
  for (std::size_t i = 0; i < tensor.byte_count(); i += bytes)
    tensor::store_double(part, std::trunc(between(generator) * 64) / 64 * scale, tensor.mutable_bytes().data() + i);
  return tensor;
}

inline std::vector<Tensor> run(const graph::Graph& graph, const std::vector<Tensor>& inputs, std::size_t workers = 0) {
  backends::CompileOptions options;
  options.max_workers = workers;
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, options);
  const std::vector<backends::Buffer> buffers(inputs.begin(), inputs.end());
  std::vector<backends::Buffer> outputs(graph.outputs().size());
  executable->run(buffers, outputs, {.cancellation = base::Cancellation::never()});
  std::vector<Tensor> results;
  for (const backends::Buffer& output : outputs) results.push_back(*output.host());
  return results;
}

/// Within `allowed` of the largest element, and of the same bits however many threads there are.
inline void expect_as_reference(const graph::Graph& graph, const std::vector<Tensor>& inputs, double allowed,
                                const std::string& what) {
  const std::vector<Tensor> wanted = graph::interpret(graph, inputs, base::Cancellation::never()),
                            found = run(graph, inputs), alone = run(graph, inputs, 1);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t result = 0; result < wanted.size(); ++result) {
    ASSERT_EQ(found[result].shape(), wanted[result].shape()) << what;
    const std::size_t bytes = wanted[result].byte_count();
    if (bytes == 0) continue;
    EXPECT_EQ(std::memcmp(found[result].bytes().data(), alone[result].bytes().data(), bytes), 0)
        << what << ": other bits with one thread";
    const DType dtype = wanted[result].dtype();
    const DType part = dtype == DType::c64 ? DType::f32 : (dtype == DType::c128 ? DType::f64 : dtype);
    double largest = 1, farthest = 0;
    for (std::size_t i = 0; i < bytes; i += bits_of(part) / 8) {
      const double x = tensor::load_double(part, found[result].bytes().data() + i),
                   y = tensor::load_double(part, wanted[result].bytes().data() + i);
      largest = std::max(largest, std::abs(y));
      farthest = std::max(farthest, std::abs(x - y));
    }
    EXPECT_LE(farthest, allowed * largest) << what;
  }
}

}  // namespace alate::cpu
