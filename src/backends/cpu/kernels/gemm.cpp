#include "backends/cpu/kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/row_split.h"
#include "backends/cpu/kernels/scratch.h"

namespace alate::cpu {
namespace {

// What one task reads of A: it stays in the second-level cache, together with the part of W that is being multiplied.
// That cache has 1 or 2 MB on the servers that matter.
constexpr std::size_t kRowBlockWords = 192 * 1024;
// A multiply-add per weight and row; reading a weight costs about as much as eight of them. A task below this is not
// worth handing to another thread.
constexpr std::size_t kReadingWeightsInRows = 8;
constexpr std::size_t kTaskWork = 512 * 1024;
// Tasks are taken as threads come free: with this many for each, the last ones end nearly together.
constexpr std::size_t kTasksPerWorker = 6;

// Lines of memory this far apart share a set of the first-level cache: it has 64 sets on the processors that matter,
// of 8 lines or a few more.
constexpr std::size_t kSetBytes = 4096, kLinesOfSet = 8;
constexpr std::size_t kLineWords = 16;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Start of part `index` when `count` things are split into `parts` nearly equal runs.
std::size_t part_begin(std::size_t count, std::size_t parts, std::size_t index) { return count * index / parts; }

struct Split {
  std::size_t row_blocks, panel_blocks;
};

// What blocks consist of: strips, or the lines that A has.
std::size_t units_of(const GemmArguments& g, const GemmKernel& kernel) {
  return g.lines == nullptr ? divide_up(g.m, kernel.rows_per_tile) : g.m / g.lines->rows;
}

Split choose_split(const GemmArguments& g, const GemmKernel& kernel, std::size_t workers) {
  const std::size_t panels = divide_up(g.n, kernel.panel_width);
  const std::size_t units = units_of(g, kernel), unit_rows = divide_up(g.m, units);
  // Rows that overlap bring few new words each.
  const std::size_t row_words = g.lines == nullptr ? g.k + 1 : std::min(g.k, 2 * g.a_stride) + 1;
  const std::size_t units_in_cache = std::max<std::size_t>(1, kRowBlockWords / row_words / unit_rows);
  Split split{divide_up(units, units_in_cache), 1};
  if (workers <= 1) return split;
  const std::size_t work = g.n * g.k * (g.m + kReadingWeightsInRows);
  const std::size_t tasks = std::min(work / kTaskWork, workers * kTasksPerWorker);
  if (tasks <= split.row_blocks) return split;
  split.panel_blocks = std::min(panels, divide_up(tasks, split.row_blocks));
  split.row_blocks = std::min(units, std::max(split.row_blocks, tasks / split.panel_blocks));
  return split;
}

// `columns` rows of W as the columns of one panel, whose weights have kBytes each.
template <std::size_t kBytes>
void pack_panel(const std::byte* w, std::size_t w_stride, std::size_t columns, std::size_t row_bytes, std::size_t width,
                std::byte* to) {
  // A run of k is one cache line of each row of W and few enough lines of the panel to stay in the first-level cache.
  constexpr std::size_t kRun = 64 / kBytes;
  const std::size_t k = divide_up(row_bytes, kBytes), whole = row_bytes / kBytes;
  for (std::size_t k_begin = 0; k_begin < k; k_begin += kRun) {
    const std::size_t k_end = std::min(whole, k_begin + kRun);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = k_begin; i < k_end; ++i)
        std::memcpy(to + (i * width + j) * kBytes, w + j * w_stride + i * kBytes, kBytes);
    }
    for (std::size_t i = k_begin; i < std::min(k, k_begin + kRun); ++i)
      std::memset(to + (i * width + columns) * kBytes, 0, (width - columns) * kBytes);
  }
  if (whole == k) return;
  for (std::size_t j = 0; j < columns; ++j) {
    std::byte* last = to + (whole * width + j) * kBytes;
    std::memset(last, 0, kBytes);
    std::memcpy(last, w + j * w_stride + whole * kBytes, row_bytes % kBytes);
  }
}

// Whether the rows of A that a tile reads side by side drive each other out of the first-level cache.
bool rows_collide(const GemmArguments& g, const GemmKernel& kernel) {
  return g.lines == nullptr && g.a_stride * sizeof(float) % kSetBytes == 0 && g.k >= kLineWords &&
         std::min(g.m, kernel.rows_per_tile) > kLinesOfSet;
}

std::size_t spread_stride(const GemmArguments& g) { return (divide_up(g.k, kLineWords) + 1) * kLineWords; }

// Copies rows [begin, end) of A to `to`, each a line further from a multiple of kSetBytes than the one before.
void spread_rows(const GemmArguments& g, std::size_t begin, std::size_t end, float* to) {
  for (std::size_t row = begin; row < end; ++row, to += spread_stride(g))
    std::memcpy(to, static_cast<const float*>(g.a) + row * g.a_stride, g.k * sizeof(float));
}

// The rows from `first` on, and `a` for them.
GemmArguments with_rows_at(const GemmArguments& g, std::size_t first, const float* a) {
  GemmArguments part = g;
  part.a = a;
  part.a_stride = spread_stride(g);
  if (part.c != nullptr) part.c += first * part.c_stride;
  if (part.halves != nullptr) part.halves += first * part.halves_stride;
  if (part.residual != nullptr) part.residual += first * part.residual_stride;
  if (part.scales.row_scales != nullptr) part.scales.row_scales += first * part.scales.runs;
  if (part.scales.row_offsets != nullptr) part.scales.row_offsets += first * part.scales.runs;
  part.m -= first;
  return part;
}

}  // namespace

std::size_t packed_word_count(std::size_t n, std::size_t k, const GemmKernel& kernel) {
  return divide_up(divide_up(n, kernel.panel_width) * kernel.panel_width * k * kernel.weight_bytes, sizeof(float));
}

void pack_weights(const float* w, std::size_t w_stride, std::size_t n, std::size_t k, float* packed,
                  base::ThreadPool* pool, const GemmKernel& kernel) {
  pack_words(reinterpret_cast<const std::byte*>(w), w_stride * sizeof(float), n, k * sizeof(float),
             reinterpret_cast<std::byte*>(packed), pool, kernel);
}

void pack_words(const std::byte* w, std::size_t w_stride, std::size_t n, std::size_t row_bytes, std::byte* packed,
                base::ThreadPool* pool, const GemmKernel& kernel) {
  const std::size_t width = kernel.panel_width, k = divide_up(row_bytes, kernel.weight_bytes);
  const auto pack = [=, &kernel](std::size_t panel, std::size_t) {
    const std::size_t columns = std::min(width, n - panel * width);
    const std::byte* from = w + panel * width * w_stride;
    std::byte* to = packed + panel * width * k * kernel.weight_bytes;
    if (kernel.weight_bytes == 2)
      pack_panel<2>(from, w_stride, columns, row_bytes, width, to);
    else
      pack_panel<4>(from, w_stride, columns, row_bytes, width, to);
  };
  const std::size_t panels = divide_up(n, width);
  if (pool != nullptr) {
    pool->parallel_for(panels, 0, pack);
  } else {
    for (std::size_t panel = 0; panel < panels; ++panel) pack(panel, 0);
  }
}

bool takes_lines(std::size_t rows, std::size_t k, const GemmKernel& kernel) {
  return k <= kMostKAtOnce || rows <= kMostStrips * kernel.rows_per_tile;
}

void gemm(const GemmArguments& arguments, base::ThreadPool& pool, std::size_t max_workers, const GemmKernel& kernel) {
  if (arguments.m == 0 || arguments.n == 0) return;
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  const Split split = choose_split(arguments, kernel, workers);
  const std::size_t panels = divide_up(arguments.n, kernel.panel_width);
  const std::size_t units = units_of(arguments, kernel);
  const bool spreads = rows_collide(arguments, kernel);
  GemmArguments product = arguments;
  if (spreads && split.panel_blocks > 1) {  // several tasks read the same rows
    float* rows = thread_scratch(arguments.m * spread_stride(arguments));
    split_rows(arguments.m, arguments.k, pool, workers, [&](std::size_t begin, std::size_t end) {
      spread_rows(arguments, begin, end, rows + begin * spread_stride(arguments));
    });
    product = with_rows_at(arguments, 0, rows);
  }
  // Threads that work at the same time share the rows and read different panels, so that W comes once from memory.
  const auto run_task = [&](std::size_t index, std::size_t) {
    const std::size_t row_block = index / split.panel_blocks, panel_block = index % split.panel_blocks;
    // Blocks end where strips of nearly equal height, or lines, do.
    const std::size_t begin = part_begin(arguments.m, units, part_begin(units, split.row_blocks, row_block));
    const std::size_t end = part_begin(arguments.m, units, part_begin(units, split.row_blocks, row_block + 1));
    GemmBlock block{&product, begin, end, part_begin(panels, split.panel_blocks, panel_block),
                    part_begin(panels, split.panel_blocks, panel_block + 1)};
    if (!spreads || split.panel_blocks > 1) return kernel.run(block);
    float* rows = thread_scratch((end - begin) * spread_stride(arguments));
    spread_rows(arguments, begin, end, rows);
    const GemmArguments part = with_rows_at(arguments, begin, rows);
    block.arguments = &part;
    block.row_begin = 0;
    block.row_end = end - begin;
    kernel.run(block);
  };
  const std::size_t tasks = split.row_blocks * split.panel_blocks;
  if (workers <= 1 || tasks <= 1) {
    for (std::size_t index = 0; index < tasks; ++index) run_task(index, 0);
  } else {
    pool.parallel_for(tasks, workers, run_task);
  }
}

}  // namespace alate::cpu
