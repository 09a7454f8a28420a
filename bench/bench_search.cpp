// Exact search in the vectors of an index, against a plain read of the same bytes by the same threads:
//   bench_search [ROWS [DIMENSIONS [ROUNDS]]]
// The two take turns; a line has the best times, and the median of the rounds' ratios with the least and the largest.
// One thread's times are of the processor, so that other programs matter less; of several, of the clock.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <vector>

#include "backends/cpu/kernels/dispatch/peak_loops.h"
#include "base/hardware/cpu_facts.h"
#include "base/threads/cancellation.h"
#include "base/threads/thread_pool.h"
#include "search/vector_table.h"

namespace {

using namespace alate;
using Clock = std::chrono::steady_clock;

std::atomic<std::uint64_t> read_sum;

// Bytes of whole cache lines, in blocks as the search takes them.
void read_all(std::span<const std::byte> bytes, base::ThreadPool& pool) {
  static const cpu::ReadLoop loop = cpu::peak_loops().read;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  const std::size_t size = bytes.size() / 512 * 512;
  pool.parallel_for((size + kBlock - 1) / kBlock, 0, [&](std::size_t block, std::size_t) {
    const std::size_t begin = block * kBlock, taken = std::min(kBlock, size - begin);
    read_sum += loop.run(reinterpret_cast<const std::uint64_t*>(bytes.data() + begin), taken / 8);
  });
}

template <typename Work>
double seconds_of(const Work& work, std::size_t threads) {
  const std::clock_t processor = std::clock();
  const Clock::time_point begin = Clock::now();
  work();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  return threads == 1 ? static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC : elapsed;
}

void compare(const char* name, const search::VectorTable& table, std::span<const std::byte> bytes,
             std::span<const float> question, base::ThreadPool& pool, std::size_t rounds) {
  std::vector<double> ratios;
  double best_search = 1e9, best_read = 1e9;
  for (std::size_t round = 0; round <= rounds; ++round) {
    double search = 0, read = 0;
    const auto run_search = [&] {
      search = seconds_of(
          [&] {
            if (search::nearest_vectors(table, question, 10, pool, base::Cancellation::never()).size() != 10)
              std::abort();
          },
          pool.size());
    };
    const auto run_read = [&] { read = seconds_of([&] { read_all(bytes, pool); }, pool.size()); };
    if (round % 2 == 0)
      run_search(), run_read();
    else
      run_read(), run_search();
    if (round == 0) continue;  // warms up
    ratios.push_back(search / read);
    best_search = std::min(best_search, search);
    best_read = std::min(best_read, read);
  }
  std::ranges::sort(ratios);
  std::printf("%-8s %zu threads  search %7.2f ms  read %7.2f ms (%5.1f GB/s)  ratio %.2f [%.2f..%.2f]\n", name,
              pool.size(), best_search * 1e3, best_read * 1e3, static_cast<double>(bytes.size()) / best_read / 1e9,
              ratios[ratios.size() / 2], ratios.front(), ratios.back());
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int at, std::size_t otherwise) {
    return count > at ? std::strtoull(arguments[at], nullptr, 10) : otherwise;
  };
  const std::size_t rows = number(1, 1000000), dimensions = number(2, 384), rounds = number(3, 11);
  const std::size_t bit_bytes = search::bit_row_bytes(dimensions);
  std::vector<std::int8_t> bytes(rows * dimensions);
  std::vector<float> scales(rows), question(dimensions), row(dimensions);
  std::vector<std::uint8_t> bits(rows * bit_bytes);
  std::uint64_t state = 88172645463325252ULL;  // xorshift64
  const auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<float>(static_cast<std::int32_t>(state >> 32)) / 2147483648.0F;
  };
  for (float& value : question) value = random();
  for (std::size_t i = 0; i < rows; ++i) {
    for (float& value : row) value = random();
    scales[i] = search::round_to_bytes(row, std::span(bytes).subspan(i * dimensions, dimensions));
    search::take_signs(row, std::span(bits).subspan(i * bit_bytes, bit_bytes));
  }
  const std::size_t most = base::cpu_facts().affinity_cores;
  for (std::size_t threads = 1; threads <= most; threads *= 2) {
    base::ThreadPool pool(threads);
    search::VectorTable table{
        .precision = Precision::int8, .rows = rows, .dimensions = dimensions, .bytes = bytes, .scales = scales};
    compare("int8", table, std::as_bytes(std::span(bytes)), question, pool, rounds);
    table.precision = Precision::binary;
    table.bits = bits;
    compare("binary", table, std::as_bytes(std::span(bits)), question, pool, rounds);
  }
  return 0;
}
