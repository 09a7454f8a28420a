// An update of a donated parameter touches only the pages of what it updates.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "graph/builder.h"
#include "tests/sanitizers.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Value;

// A gigabyte; sanitizers keep a shadow of it.
constexpr std::int64_t kWidth = 4096,
                       kRows = (tests::kSanitized ? std::int64_t{64} << 20 : std::int64_t{1} << 30) / kWidth / 4;

std::vector<bool> resident_pages(const Tensor& tensor) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states(tensor.byte_count() / page);
  EXPECT_EQ(::mincore(const_cast<std::byte*>(tensor.bytes().data()), tensor.byte_count(), states.data()), 0);
  std::vector<bool> resident;
  for (const unsigned char state : states) resident.push_back((state & 1) != 0);
  return resident;
}

// Writes one row of a parameter that nobody has touched yet.
void expect_one_row_touched(const graph::Graph& graph) {
  const std::unique_ptr<backends::Executable> executable = cpu_backend().compile(graph, {.refuse_large_copies = true});
  const Tensor cache = Tensor::uninitialized({DType::f32, {kRows, kWidth}});  // pages that the system has not given yet
  auto* const memory = const_cast<std::byte*>(cache.bytes().data());
  (void)::madvise(memory, cache.byte_count(), MADV_NOHUGEPAGE);
  Tensor row = Tensor::zeros({DType::f32, {1, kWidth}});
  std::ranges::fill(row.mutable_values<float>(), 1.5F);
  const std::int32_t place = static_cast<std::int32_t>(kRows / 2);
  const std::vector<bool> before = resident_pages(cache);
  std::vector<Buffer> outputs = {cache};
  executable->run(std::vector<Buffer>{cache, row, Tensor::from<std::int32_t>({1}, {place})}, outputs,
                  {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(outputs[0].host()->bytes().data(), memory);
  const std::vector<bool> after = resident_pages(cache);
  const std::size_t pages_a_row = kWidth * sizeof(float) / (cache.byte_count() / after.size());
  const std::size_t first = pages_a_row * static_cast<std::size_t>(place);
  std::size_t touched = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (before[i] || !after[i]) continue;
    EXPECT_GE(i, first);
    EXPECT_LT(i, first + pages_a_row);
    ++touched;
  }
  EXPECT_EQ(touched, pages_a_row);
  EXPECT_EQ(cache.values<float>()[static_cast<std::size_t>(place * kWidth)], 1.5F);
}

struct Cache {
  Builder b{"cache"};
  Value cache = b.parameter("cache", {DType::f32, {kRows, kWidth}}, true);
  Value row = b.parameter("row", {DType::f32, {1, kWidth}});
  Value place = b.parameter("place", {DType::i32, {1}});
};

TEST(CpuDonatedPages, AnUpdatedSliceTouchesItsRowOnly) {
  Cache c;
  const Value place = c.b.reshape({c.place}, {.dims = {}}), zero = c.b.scalar(DType::i32, 0);
  c.b.output("cache", c.b.dynamic_update_slice({c.cache, c.row, place, zero}), 0);
  expect_one_row_touched(c.b.finish());
}

TEST(CpuDonatedPages, AScatterTouchesItsRowOnly) {
  Cache c;
  c.b.output("cache",
             c.b.scatter_set({c.cache, c.place, c.row}, {.update_window_dims = {1},
                                                         .inserted_window_dims = {0},
                                                         .input_batching_dims = {},
                                                         .scatter_indices_batching_dims = {},
                                                         .scatter_dims_to_operand_dims = {0},
                                                         .index_vector_dim = 1}),
             0);
  expect_one_row_touched(c.b.finish());
}

}  // namespace
}  // namespace alate::cpu
