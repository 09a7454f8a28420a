// What backends say about aliases of donated parameters, and the copies that callers refuse.
#include "backends/donation.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "alate/error.h"
#include "backends/registry.h"
#include "graph/builder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::backends {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Value;

// The parameter reversed, which no backend writes in place.
Graph reversed(const Shape& shape, const std::shared_ptr<graph::DimTable>& dims = nullptr) {
  Builder b("reversed", dims);
  b.output("state", b.reverse({b.parameter("old state", shape, true)}, {.axes = {0}}), 0);
  return b.finish();
}

Graph updated(const Shape& shape) {
  Builder b("updated");
  const Value state = b.parameter("old state", shape, true), row = b.parameter("row", {shape.dtype, {1}});
  b.output("state", b.dynamic_update_slice({state, row, b.scalar(DType::i32, 0)}), 0);
  return b.finish();
}

constexpr std::int64_t kMostFloats = kMostCopiedBytes / sizeof(float);

class Donation : public testing::TestWithParam<std::string> {
 protected:
  Backend& backend = get_backend(GetParam());
};

TEST_P(Donation, NamesTheAliasAndWhyItIsCopied) {
  const ExecutableFacts facts = backend.compile(reversed({DType::f32, {8}}), {})->facts();
  ASSERT_EQ(facts.aliases.size(), 1U);
  EXPECT_EQ(facts.aliases[0].output, "state");
  EXPECT_EQ(facts.aliases[0].parameter, "old state");
  EXPECT_FALSE(facts.aliases[0].in_place);
  EXPECT_NE(facts.aliases[0].copy_reason, "");
}

TEST_P(Donation, TakesLargeCopiesUnlessTheyAreRefused) {
  const Graph large = reversed({DType::f32, {kMostFloats + 1}});
  EXPECT_NO_THROW(backend.compile(large, {}));
  const Error error = base::error_of([&] { backend.compile(large, {.refuse_large_copies = true}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  for (const std::string& part :
       {"backend '" + GetParam() + "' would copy the donated parameter 'old state' (f32[16777217], 65 MiB)",
        ", because " + backend.compile(large, {})->facts().aliases[0].copy_reason,
        std::string("compile without refuse_large_copies")})
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
}

TEST_P(Donation, TakesSmallCopies) {
  EXPECT_NO_THROW(backend.compile(reversed({DType::f32, {kMostFloats}}), {.refuse_large_copies = true}));
  Builder plain("plain");
  plain.output("y", plain.neg({plain.parameter("x", {DType::f32, {kMostFloats + 1}}, true)}));
  EXPECT_NO_THROW(backend.compile(plain.finish(), {.refuse_large_copies = true}));
}

TEST_P(Donation, RefusesCopiesBySizesThatDimsAllow) {
  const auto dims = std::make_shared<graph::DimTable>();
  const Dim any = dims->named("any", 1), few = dims->named("few", 1, 1000), many = dims->named("many", 1, kMostFloats);
  const auto compile = [&](const std::vector<Dim>& extents) {
    backend.compile(reversed({DType::f32, extents}, dims), {.refuse_large_copies = true});
  };
  EXPECT_NO_THROW(compile({few, 4}));
  EXPECT_NO_THROW(compile({many}));
  EXPECT_THROW(compile({many, 2}), Error);
  EXPECT_THROW(compile({many, many, many, many}), Error);  // more than any memory
  const Error error = base::error_of([&] { compile({any, 4}); });
  EXPECT_NE(error.message().find("(f32[any,4], of a size without an upper bound)"), std::string::npos)
      << error.message();
}

INSTANTIATE_TEST_SUITE_P(Backends, Donation, testing::Values("cpu", "reference"),
                         [](const auto& backend) { return backend.param; });

TEST(DonationInPlace, IsNoCopyToRefuse) {
  EXPECT_NO_THROW(get_backend("cpu").compile(updated({DType::f32, {kMostFloats + 1}}), {.refuse_large_copies = true}));
  EXPECT_THROW(
      get_backend("reference").compile(updated({DType::f32, {kMostFloats + 1}}), {.refuse_large_copies = true}), Error);
}

TEST(DonationFacts, AreEmptyWithoutAliases) {
  Builder b("plain");
  b.output("y", b.neg({b.parameter("x", {DType::f32, {4}}, true)}));
  const Graph graph = b.finish();
  for (const char* name : {"cpu", "reference"})
    EXPECT_TRUE(get_backend(name).compile(graph, {})->facts().aliases.empty());
}

}  // namespace
}  // namespace alate::backends
