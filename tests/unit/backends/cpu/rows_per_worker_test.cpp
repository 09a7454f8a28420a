// How many rows a thread takes through a plan, by the weights that it reads.
#include "backends/cpu/run/rows_per_worker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cpu/cpu_backend.h"
#include "base/threads/thread_pool.h"
#include "graph/builder.h"

namespace alate::cpu {
namespace {

TEST(RowsPerWorker, AreMoreWhereWeightsStayInNoCache) {
  const std::size_t usual = rows_per_worker(0);
  EXPECT_EQ(usual, backends::BatchHint().rows_per_worker);
  EXPECT_EQ(rows_per_worker(std::size_t{40} << 20), usual);
  EXPECT_GT(rows_per_worker(std::size_t{160} << 20), 2 * usual);
  EXPECT_LE(rows_per_worker(std::size_t{100} << 30), 512U) << "what is computed of them has to stay somewhere, too";
}

TEST(RowsPerWorker, AreInTheHintOfAnExecutable) {
  graph::Builder b("abs");
  b.output("y", b.abs({b.parameter("x", {DType::f32, {4}})}));
  const graph::Graph graph = b.finish();
  const backends::BatchHint all = cpu_backend().compile(graph, {})->batch_hint();
  EXPECT_EQ(all.workers, base::ThreadPool::shared().size());
  EXPECT_EQ(all.rows_per_worker, rows_per_worker(0));
  EXPECT_FALSE(all.specialises);
  EXPECT_EQ(cpu_backend().compile(graph, {.max_workers = 1})->batch_hint().workers, 1U);
}

}  // namespace
}  // namespace alate::cpu
