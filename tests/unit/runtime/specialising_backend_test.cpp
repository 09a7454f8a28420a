// A backend that compiles once for each combination of extents; skipped where no PJRT plugin is installed.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "alate/model.h"
#include "backends/registry.h"
#include "runtime/loading/loaded_model.h"
#include "tests/source_folder.h"

namespace alate::runtime {
namespace {

NamedTensors tokens(std::int64_t rows, std::int64_t length) {
  Tensor ids = Tensor::zeros({DType::i64, {rows, length}}), mask = Tensor::zeros({DType::i64, {rows, length}});
  for (std::int64_t i = 0; i < rows * length; ++i) {
    ids.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] = 1 + (7 * i) % 20;
    // Later rows are shorter.
    mask.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] = i % length < length - i / length ? 1 : 0;
  }
  return {{"input_ids", ids}, {"attention_mask", mask}};
}

TEST(SpecialisingBackend, FewProgramsServeManyLengths) {
  if (backends::get_backend("xla").libraries().found.empty()) GTEST_SKIP() << "no PJRT plugin is installed here";
  const auto folder = source_folder() / "tests/golden/models/two_layers";
  const Model cpu = Model::load(folder, {.backend = {.places = {BackendPlace::cpu()}}});
  const Model xla =
      Model::load(folder, {.backend = {.places = {BackendPlace::xla()}, .policy = BackendPolicy::strict}});
  ASSERT_EQ(xla.facts().backend, "xla");
  const auto compare = [&](std::int64_t rows, std::int64_t length) {
    const NamedTensors inputs = tokens(rows, length), wanted = cpu.forward(inputs), found = xla.forward(inputs);
    ASSERT_EQ(found.size(), wanted.size());
    for (const auto& [name, tensor] : wanted) {
      const Tensor& other = found.find(name)->second;
      ASSERT_EQ(other.shape(), tensor.shape()) << name;
      for (std::size_t i = 0; i < tensor.values<float>().size(); ++i)
        ASSERT_NEAR(other.values<float>()[i], tensor.values<float>()[i], 1e-5F) << name << " of length " << length;
    }
  };
  for (std::int64_t length = 1; length <= 24; ++length) compare(1, length);  // as 16 and 24 tokens
  for (std::int64_t length = 9; length <= 11; ++length) compare(3, length);  // as 24 and 32 tokens in rows of 16
  EXPECT_EQ(xla.state().forward_entry_point().facts().specialisations, 4U);
}

}  // namespace
}  // namespace alate::runtime
