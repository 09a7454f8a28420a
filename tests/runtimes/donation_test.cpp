// Donated parameters on the runtimes that are installed here: where results are, what a run takes, and what the facts
// say.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "backends/registry.h"
#include "backends/xla/executable.h"
#include "graph/builder.h"

namespace alate {
namespace {

using backends::Buffer;
using graph::Builder;
using graph::Graph;
using graph::Value;

constexpr std::int64_t kRows = 32768, kWidth = 1024;  // 128 MiB of f32

const graph::Scatter kRowScatter = {.update_window_dims = {1},
                                    .inserted_window_dims = {0},
                                    .input_batching_dims = {},
                                    .scatter_indices_batching_dims = {},
                                    .scatter_dims_to_operand_dims = {0},
                                    .index_vector_dim = 1};

enum class Update { slice, scatter, sum, reversal };

// cache [rows, width] with a row written, or added to all rows, or in another order.
Graph updated(Update update, std::int64_t rows) {
  Builder b("cache");
  const Value cache = b.parameter("cache", {DType::f32, {rows, kWidth}}, true);
  const Value row = b.parameter("row", {DType::f32, {1, kWidth}}), place = b.parameter("place", {DType::i32, {1}});
  switch (update) {
    case Update::slice:
      b.output("cache", b.dynamic_update_slice({cache, row, b.reshape({place}, {.dims = {}}), b.scalar(DType::i32, 0)}),
               0);
      break;
    case Update::scatter: b.output("cache", b.scatter_set({cache, place, row}, kRowScatter), 0); break;
    case Update::sum: b.output("cache", b.add({cache, broadcast_to(b, row, {rows, kWidth})}), 0); break;
    case Update::reversal: b.output("cache", b.reverse({cache}, {.axes = {0}}), 0); break;
  }
  return b.finish();
}

Tensor filled(std::int64_t rows, float value) {
  Tensor tensor = Tensor::uninitialized({DType::f32, {rows, kWidth}});
  std::ranges::fill(tensor.mutable_values<float>(), value);
  return tensor;
}

// The process's memory in bytes, now ("VmRSS") or at its peak ("VmHWM"); none where the system does not tell.
std::optional<std::size_t> resident(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoul(line.substr(field.size() + 1)) * 1024;
  }
  return std::nullopt;
}

bool forget_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush); }

class DonationOnXla : public testing::TestWithParam<Update> {
 protected:
  void SetUp() override {
    const auto found = backends::get_backend("xla").libraries().found;
    if (found.empty()) GTEST_SKIP() << "xla is not installed here";
    client = xla::Client::create(xla::Plugin::open(found.front()));
    if (client->platform() != "cpu") GTEST_SKIP() << "the device's memory is not this process's";
  }

  // Writes into `cache`, which nobody else holds.
  void run(xla::XlaExecutable& executable, Buffer& cache, float value) const {
    std::vector<Buffer> inputs = {cache, filled(1, value), Tensor::from<std::int32_t>({1}, {5})};
    std::vector<Buffer> outputs = {std::move(cache)};
    executable.run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    cache = std::move(outputs[0]);
  }
  std::uintptr_t address_of(const Buffer& buffer) const {
    return client->address_of(std::static_pointer_cast<xla::abi::Buffer>(buffer.device_memory()));
  }

  std::shared_ptr<xla::Client> client;
};

TEST_P(DonationOnXla, IsInPlaceIfTheFactsSaySo) {
  const auto source = std::make_shared<xla::ProgramSource>(client, 0, xla::Settings(), std::nullopt);
  xla::XlaExecutable executable(updated(GetParam(), kRows), source, std::make_shared<backends::WeightStore>());
  executable.compile_aliases();
  const backends::AliasFacts alias = executable.facts().aliases.at(0);
  if (!alias.in_place) GTEST_SKIP() << "the facts say that it is a copy: " << alias.copy_reason;
  const Shape shape{DType::f32, {kRows, kWidth}};
  Buffer cache(shape, client->upload(filled(kRows, 1), 0));
  const std::uintptr_t address = address_of(cache);
  EXPECT_NE(address, 0U);
  run(executable, cache, 2);  // starts the plugin's threads
  EXPECT_EQ(address_of(cache), address);
  const std::optional<std::size_t> before = resident("VmRSS:");
  const bool is_measured = before && forget_peak();
  run(executable, cache, 3);
  EXPECT_EQ(address_of(cache), address);
  if (is_measured) {
    EXPECT_LT(*resident("VmHWM:") - *before, shape.byte_count() / 10);
  }
  const Tensor found = client->download(std::static_pointer_cast<xla::abi::Buffer>(cache.device_memory()));
  const float changed = GetParam() == Update::sum ? 6.0F : 3.0F, other = GetParam() == Update::sum ? 6.0F : 1.0F;
  EXPECT_EQ(found.values<float>()[5 * kWidth], changed);
  EXPECT_EQ(found.values<float>()[6 * kWidth - 1], changed);
  EXPECT_EQ(found.values<float>()[6 * kWidth], other);
}

TEST(DonationFactsOnXla, SayThatAReversalIsACopy) {
  backends::Backend& backend = backends::get_backend("xla");
  if (backend.libraries().found.empty()) GTEST_SKIP() << "xla is not installed here";
  const Graph graph = updated(Update::reversal, kRows);
  const backends::AliasFacts alias = backend.compile(graph, {})->facts().aliases.at(0);
  EXPECT_FALSE(alias.in_place);
  EXPECT_NE(alias.copy_reason, "");
  EXPECT_THROW(backend.compile(graph, {.refuse_large_copies = true}), Error);
  EXPECT_NO_THROW(backend.compile(updated(Update::reversal, 8), {.refuse_large_copies = true}));
}

INSTANTIATE_TEST_SUITE_P(Updates, DonationOnXla, testing::Values(Update::slice, Update::scatter, Update::sum),
                         [](const auto& update) {
                           return update.param == Update::slice     ? "Slice"
                                  : update.param == Update::scatter ? "Scatter"
                                                                    : "Sum";
                         });

class DonationOnRuntime : public testing::TestWithParam<std::string> {};

TEST_P(DonationOnRuntime, WritesTheResultIntoTheCallersBuffer) {
  backends::Backend& backend = backends::get_backend(GetParam());
  if (backend.libraries().found.empty()) GTEST_SKIP() << GetParam() << " is not installed here";
  for (const Update update : {Update::slice, Update::scatter, Update::sum}) {
    const auto executable = backend.compile(updated(update, 8), {});
    ASSERT_EQ(executable->facts().aliases.size(), 1U);
    EXPECT_EQ(executable->facts().aliases[0].in_place, executable->facts().aliases[0].copy_reason.empty());
    const Tensor cache = filled(8, 1);
    const std::vector<Buffer> inputs = {cache, filled(1, 2), Tensor::from<std::int32_t>({1}, {5})};
    std::vector<Buffer> outputs = {cache};
    executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    EXPECT_EQ(outputs[0].host()->bytes().data(), cache.bytes().data());
    EXPECT_EQ(cache.values<float>()[5 * kWidth], update == Update::sum ? 3.0F : 2.0F);
    EXPECT_EQ(cache.values<float>()[6 * kWidth], update == Update::sum ? 3.0F : 1.0F);
    // A buffer apart takes the result, and the parameter stays.
    const Tensor apart = filled(8, 0);
    outputs = {apart};
    executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    EXPECT_EQ(cache.values<float>()[6 * kWidth], update == Update::sum ? 3.0F : 1.0F);
    EXPECT_EQ(apart.values<float>()[6 * kWidth], update == Update::sum ? 5.0F : 1.0F);
  }
}

TEST_P(DonationOnRuntime, SaysThatItCopiesBeforeExtentsAreKnown) {
  backends::Backend& backend = backends::get_backend(GetParam());
  if (backend.libraries().found.empty()) GTEST_SKIP() << GetParam() << " is not installed here";
  Builder b("sizes");
  const Value x = b.parameter("x", {DType::f32, {b.dim("n"), 4}}, true);
  b.output("x", b.neg({x}), 0);
  const Graph graph = b.finish();
  const backends::AliasFacts alias = backend.compile(graph, {})->facts().aliases.at(0);
  EXPECT_FALSE(alias.in_place);
  EXPECT_NE(alias.copy_reason, "");
  EXPECT_THROW(backend.compile(graph, {.refuse_large_copies = true}), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, DonationOnRuntime, testing::Values("onnx", "xla"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace alate
