#include "backends/cpu/kernels/blocks/block_product.h"

#include <algorithm>

#include "backends/cpu/kernels/blocks/block_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/vectors/scratch.h"

namespace alate::cpu {
namespace {

// Smaller tasks, in multiply-adds, are not worth handing to another thread; reading a weight costs as much as eight.
constexpr std::size_t kTaskWork = std::size_t{1} << 19;
constexpr std::size_t kReadingInRows = 8;
constexpr std::size_t kTasksPerWorker = 4;

std::size_t group_of(const BlockProduct& product) { return block_form(product.kind)->group; }

std::size_t row_bytes_of(const BlockProduct& product) {
  return integer_row_bytes(product.product.k, group_of(product));
}

void quantize(const BlockProduct& product, std::byte* integers, base::ThreadPool& pool, std::size_t max_workers,
              const BlockKernels& kernels) {
  const GemmArguments& g = product.product;
  split_rows(g.m, g.k, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      kernels.quantize_row(static_cast<const float*>(g.a) + row * g.a_stride, g.k, group_of(product),
                           integers + row * row_bytes_of(product));
  });
}

}  // namespace

std::size_t block_product_scratch(const BlockProduct& product) {
  return product.rounds_rows ? product.product.m * row_bytes_of(product) : 0;
}

void multiply_blocks(const BlockProduct& product, std::byte* scratch, base::ThreadPool& pool, std::size_t max_workers,
                     const Kernels& set) {
  const GemmArguments& g = product.product;
  if (g.m == 0 || g.n == 0) return;
  const BlockKernels& kernels = block_kernels(set);
  if (product.rounds_rows) quantize(product, scratch, pool, max_workers, kernels);
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  const std::size_t panels = (g.n + kBlockPanel - 1) / kBlockPanel;
  const std::size_t row_blocks = (g.m + kBlockTaskRows - 1) / kBlockTaskRows;
  const std::size_t useful = g.n * g.k * (g.m + kReadingInRows) / kTaskWork / row_blocks;
  const std::size_t panel_blocks =
      workers <= 1 ? 1 : std::clamp<std::size_t>(useful, 1, std::min(panels, workers * kTasksPerWorker));
  // Each thread goes through neighbouring panels, and all rows of these before the next.
  const auto run = [&](std::size_t index, std::size_t /*worker*/) {
    const std::size_t first = panels * index / panel_blocks, last = panels * (index + 1) / panel_blocks;
    float* const memory = thread_scratch(kBlockTaskScratch);
    for (std::size_t block = 0; block < row_blocks; ++block)
      kernels.multiply({&product, product.rounds_rows ? scratch : nullptr, g.m * block / row_blocks,
                        g.m * (block + 1) / row_blocks, first, last, memory});
  };
  if (panel_blocks == 1) return run(0, 0);
  pool.parallel_for(panel_blocks, workers, run);
}

}  // namespace alate::cpu
