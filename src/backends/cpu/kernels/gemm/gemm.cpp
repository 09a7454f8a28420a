#include "backends/cpu/kernels/gemm/gemm.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/gemm/cache_blocks.h"
#include "backends/cpu/kernels/quantize/quantize_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/vectors/scratch.h"

namespace alate::cpu {
namespace {

// Task cost: a multiply-add per weight and row; reading a weight costs about as much as eight of them. Smaller tasks
// than kTaskWork are not worth handing to another thread.
constexpr std::size_t kReadingWeightsInRows = 8;
constexpr std::size_t kTaskWork = 512 * 1024;
// Threads take tasks as they become free: with this many tasks per thread, the last ones end nearly together. More are
// slower where weights come from memory, as each task begins with a panel that has not been prefetched.
constexpr std::size_t kTasksPerWorker = 4;

// Cache lines this far apart share a set of the L1 cache: on the CPUs that matter it has 64 sets of 8 ways or a few
// more, some of which W and C take.
constexpr std::size_t kSetBytes = 4096, kLinesForRows = 4;
constexpr std::size_t kLineWords = 16;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Start of part `index` when `count` items are split into `parts` nearly equal ranges.
std::size_t part_begin(std::size_t count, std::size_t parts, std::size_t index) { return count * index / parts; }

struct Split {
  std::size_t row_blocks, panel_blocks;
};

// The block taken as number `index` of `blocks`, where `workers` threads take turns: each thread goes through
// neighbouring blocks, and each block prefetches the next.
struct BlockOrder {
  std::size_t block;
  bool is_followed;  // by the next block, on the same thread
};
BlockOrder block_order(std::size_t index, std::size_t blocks, std::size_t workers) {
  const std::size_t each = blocks / workers, longer = blocks % workers;  // longer: threads with one block more
  const std::size_t worker = index % workers, turn = index / workers;
  return {worker * each + std::min(worker, longer) + turn, turn + 1 < each + (worker < longer ? 1 : 0)};
}

// Units that blocks consist of: strips, or A's lines.
std::size_t units_of(const GemmArguments& g, const GemmKernel& kernel) {
  return g.lines == nullptr ? divide_up(g.m, kernel.rows_per_tile) : g.m / g.lines->rows;
}

bool is_quantized_output(const GemmArguments& g) { return g.integers.words != nullptr; }

// Panels that one task must take together: those of a group, where C is quantized.
std::size_t panels_per_unit(const GemmArguments& g, const GemmKernel& kernel) {
  return is_quantized_output(g) ? g.n / g.integers.groups / kernel.panel_width : 1;
}

std::size_t most_tasks(const GemmArguments& g, std::size_t workers) {
  const std::size_t work = g.n * g.k * (g.m + kReadingWeightsInRows);
  return std::min(work / kTaskWork, workers * kTasksPerWorker);
}

// Whether W does not fit the L2 cache, so that each block of rows reads it from further away.
bool reads_far(const GemmArguments& g) { return g.n * g.k > cache_blocks().row_words; }

// Rows of a block of a quantized product: as many as keep a group's results in the L2 cache, or, if W is read from
// further away, as have results of W's size.
std::size_t waiting_rows(const GemmArguments& g) {
  const std::size_t rows = cache_blocks().waiting_floats / (g.n / g.integers.groups);
  return reads_far(g) ? std::max(rows, g.k) : rows;
}

// Whether a quantized product is first computed as floats, with columns split over threads: where groups and rows leave
// threads idle, or where rows are so few that reading W takes longer than writing and reading C.
bool multiplies_before_quantizing(const GemmArguments& g, std::size_t workers, std::size_t tasks) {
  return tasks < std::min(workers, most_tasks(g, workers)) || (workers > 1 && reads_far(g) && g.m < workers * g.k);
}

// Blocks of panels that begin at multiples of panels_per_unit.
Split choose_split(const GemmArguments& g, const GemmKernel& kernel, std::size_t workers) {
  const std::size_t panels = divide_up(divide_up(g.n, kernel.panel_width), panels_per_unit(g, kernel));
  const std::size_t units = units_of(g, kernel), unit_rows = divide_up(g.m, units);
  // Overlapping rows add few new words each.
  const std::size_t row_words = std::max<std::size_t>(1, g.lines == nullptr ? g.k : std::min(g.k, 2 * g.a_stride));
  std::size_t rows_in_cache = cache_blocks().row_words / row_words;
  if (is_quantized_output(g)) rows_in_cache = std::min(rows_in_cache, waiting_rows(g));
  const std::size_t units_in_cache = std::max<std::size_t>(1, rows_in_cache / unit_rows);
  Split split{divide_up(units, units_in_cache), 1};
  if (workers <= 1) return split;
  const std::size_t tasks = most_tasks(g, workers);
  if (tasks <= split.row_blocks) return split;
  split.panel_blocks = std::min(panels, divide_up(tasks, split.row_blocks));
  split.row_blocks = std::min(units, std::max(split.row_blocks, tasks / split.panel_blocks));
  return split;
}

// Packs `columns` rows of W as the columns of one panel; weights have kBytes bytes each.
template <std::size_t kBytes>
void pack_panel(const std::byte* w, std::size_t w_stride, std::size_t columns, std::size_t row_bytes, std::size_t width,
                std::byte* to) {
  // A run of k is one cache line of each row of W and few enough lines of the panel to stay in the L1 cache.
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

// Whether the rows of A that a tile reads together evict each other from the L1 cache.
bool rows_collide(const GemmArguments& g, const GemmKernel& kernel) {
  return g.lines == nullptr && g.a_stride * sizeof(float) % kSetBytes == 0 && g.k >= kLineWords &&
         std::min(g.m, kernel.rows_per_tile) > kLinesForRows;
}

std::size_t spread_stride(const GemmArguments& g) { return (divide_up(g.k, kLineWords) + 1) * kLineWords; }

// Copies rows [begin, end) of A to `to`, staggered so that each starts one cache line later modulo kSetBytes.
void spread_rows(const GemmArguments& g, std::size_t begin, std::size_t end, float* to) {
  for (std::size_t row = begin; row < end; ++row, to += spread_stride(g))
    std::memcpy(to, static_cast<const float*>(g.a) + row * g.a_stride, g.k * sizeof(float));
}

// The arguments for rows [begin, end) of a product without lines.
GemmArguments rows_of_product(const GemmArguments& g, std::size_t begin, std::size_t end) {
  GemmArguments part = g;
  part.a = static_cast<const float*>(g.a) + begin * g.a_stride;
  if (part.c != nullptr) part.c += begin * part.c_stride;
  if (part.halves != nullptr) part.halves += begin * part.halves_stride;
  if (part.residual != nullptr) part.residual += begin * part.residual_stride;
  if (part.scales.row_scales != nullptr) part.scales.row_scales += begin * part.scales.row_stride;
  if (part.scales.row_offsets != nullptr) part.scales.row_offsets += begin * part.scales.row_stride;
  if (part.row_sums != nullptr) part.row_sums += begin * kSumLanes;
  if (is_quantized_output(part)) part.integers = rows_to_quantize(part.integers, begin, end);
  part.m = end - begin;
  return part;
}

// Computes panels [begin, end) of a quantized product, group by group in `waiting`: m rows of one group.
void multiply_and_quantize(const GemmArguments& g, const GemmKernel& kernel, std::size_t begin, std::size_t end,
                           float* waiting) {
  const std::size_t panels = panels_per_unit(g, kernel), length = panels * kernel.panel_width;
  GemmArguments floats = g;
  floats.c = waiting;
  floats.c_stride = floats.column_block = length;  // every group overwrites the one before
  floats.block_stride = 0;
  for (std::size_t panel = begin; panel < end; panel += panels) {
    kernel.run({&floats, 0, g.m, panel, panel + panels, end});
    QuantizeArguments run = group_to_quantize(g.integers, panel / panels);
    run.x = waiting;
    run.x_stride = length;
    take_rotation_scratch(run);
    quantize_kernels().quantize_rows(run);
  }
}

// Computes all of C as floats first, then quantizes it.
void multiply_then_quantize(const GemmArguments& g, base::ThreadPool& pool, std::size_t workers,
                            const GemmKernel& kernel) {
  GemmArguments floats = g;
  floats.integers = {};
  floats.c = thread_scratch(g.m * g.n);
  floats.c_stride = g.n;
  gemm(floats, pool, workers, kernel);
  QuantizeArguments rows = g.integers;
  rows.x = floats.c;
  rows.x_stride = g.n;
  quantize_rows(rows, pool, workers);
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
  return k <= kMaxKBlock || rows <= kMostStrips * kernel.rows_per_tile;
}

bool can_quantize_output(std::size_t n, std::size_t groups, const GemmKernel& kernel) {
  return n % groups == 0 && n / groups % kernel.panel_width == 0 && n / groups % kColumnBlockUnit == 0;
}

void gemm(const GemmArguments& arguments, base::ThreadPool& pool, std::size_t max_workers, const GemmKernel& kernel) {
  if (arguments.m == 0 || arguments.n == 0) return;
  const std::size_t workers = max_workers == 0 ? pool.size() : std::min(max_workers, pool.size());
  GemmArguments product = arguments;
  if (product.scales.row_stride == 0) product.scales.row_stride = product.scales.groups;
  const bool quantizes = is_quantized_output(product);
  if (quantizes) {
    product.integers.rows = product.m;
    product.integers.width = product.n;
  }
  const Split split = choose_split(product, kernel, workers);
  const std::size_t tasks = split.row_blocks * split.panel_blocks;
  const bool spreads = rows_collide(product, kernel);
  if (quantizes && !spreads && multiplies_before_quantizing(product, workers, tasks))
    return multiply_then_quantize(product, pool, workers, kernel);
  // A row's sum adds its panels in order.
  const bool sums_after = product.row_sums != nullptr && split.panel_blocks > 1;
  if (sums_after) product.row_sums = nullptr;
  const std::size_t panels = divide_up(product.n, kernel.panel_width), at_once = panels_per_unit(product, kernel);
  const std::size_t units = units_of(product, kernel);
  if (spreads && split.panel_blocks > 1 && !quantizes) {  // because several tasks read the same rows
    float* rows = thread_scratch(product.m * spread_stride(product));
    split_rows(product.m, product.k, pool, workers, [&](std::size_t begin, std::size_t end) {
      spread_rows(product, begin, end, rows + begin * spread_stride(product));
    });
    product.a = rows;
    product.a_stride = spread_stride(product);
  }
  const bool spreads_block = spreads && (split.panel_blocks == 1 || quantizes);
  // Concurrent threads share rows and read different panels, so that W is read from memory once.
  const auto run_task = [&](std::size_t index, std::size_t) {
    const std::size_t row_block = index / split.panel_blocks;
    const auto [panel_block, is_followed] = block_order(index % split.panel_blocks, split.panel_blocks, workers);
    // Blocks end at boundaries of lines, or of strips of nearly equal height.
    const std::size_t begin = part_begin(product.m, units, part_begin(units, split.row_blocks, row_block));
    const std::size_t end = part_begin(product.m, units, part_begin(units, split.row_blocks, row_block + 1));
    const std::size_t first = at_once * part_begin(panels / at_once, split.panel_blocks, panel_block);
    const std::size_t last = at_once * part_begin(panels / at_once, split.panel_blocks, panel_block + 1);
    const std::size_t fetch_end =
        is_followed ? at_once * part_begin(panels / at_once, split.panel_blocks, panel_block + 2) : last;
    if (!spreads_block && !quantizes) return kernel.run({&product, begin, end, first, last, fetch_end});
    GemmArguments part = rows_of_product(product, begin, end);
    const std::size_t waiting = quantizes ? part.m * at_once * kernel.panel_width : 0;
    float* memory = thread_scratch(waiting + (spreads_block ? part.m * spread_stride(part) : 0));
    if (spreads_block) {
      spread_rows(part, 0, part.m, memory + waiting);
      part.a = memory + waiting;
      part.a_stride = spread_stride(part);
    }
    if (quantizes) return multiply_and_quantize(part, kernel, first, last, memory);
    kernel.run({&part, 0, part.m, first, last, fetch_end});
  };
  if (workers <= 1 || tasks <= 1) {
    for (std::size_t index = 0; index < tasks; ++index) run_task(index, 0);
  } else {
    pool.parallel_for(tasks, workers, run_task);
  }
  if (!sums_after) return;
  split_rows(arguments.m, arguments.n, pool, workers,
             [&](std::size_t begin, std::size_t end) { kernel.sum_rows(arguments, begin, end); });
}

const GemmKernel& f32_gemm() { return gemm_kernels().f32; }

}  // namespace alate::cpu
