#include "machine/machine_peaks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>

#include "alate/tensor.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/dispatch/peak_loops.h"
#include "base/hardware/cpu_facts.h"
#include "base/os/large_pages.h"
#include "base/threads/thread_pool.h"

namespace alate::machine {
namespace {

using Clock = std::chrono::steady_clock;

// Consumes results, so that compilers do not eliminate the work.
std::atomic<std::uint64_t> sink{0};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A machine that is busy with other work gets fewer repeats, so that all measurements stay within two seconds.
constexpr double kSecondsOfOne = 0.15;

// Shortest time in which each of `workers` threads does `work` once.
double least_seconds(std::size_t workers, std::size_t repeats, const std::function<void(std::size_t worker)>& work) {
  double least = 1e9;
  const Clock::time_point begin = Clock::now();
  for (std::size_t repeat = 0; repeat < repeats && (repeat == 0 || seconds_since(begin) < kSecondsOfOne); ++repeat) {
    const Clock::time_point start = Clock::now();
    if (workers == 1) {
      work(0);
    } else {
      base::ThreadPool::shared().parallel_for(workers, workers, [&](std::size_t i, std::size_t) { work(i); });
    }
    least = std::min(least, seconds_since(start));
  }
  return least;
}

PeakRate compute_rate(std::string_view name, std::string unit, const cpu::PeakLoop& loop, std::string_view missing) {
  PeakRate rate{.name = std::string(name), .unit = std::move(unit), .instructions = std::string(loop.instructions)};
  if (loop.run == nullptr) {
    rate.absent = missing;
    return rate;
  }
  constexpr std::size_t kRounds = std::size_t{1} << 16, kRepeats = 20;  // some milliseconds in all
  const auto measured = [&](std::size_t workers) {
    const double seconds = least_seconds(workers, kRepeats, [&](std::size_t) { sink += loop.run(kRounds); });
    return static_cast<double>(workers * kRounds * loop.operations_per_round) / seconds / 1e9;
  };
  rate.one_thread = measured(1);
  rate.all_threads = measured(base::ThreadPool::shared().size());
  return rate;
}

PeakRate multiply_add_rate() {
  const cpu::Kernels& kernels = cpu::kernels();
  const cpu::PeakLoop loop{
      .instructions = base::to_string(kernels.set),
      .operations_per_round = kernels.flops_per_round,
      .run = [](std::size_t rounds) { return static_cast<std::uint32_t>(cpu::kernels().run_multiply_adds(rounds)); }};
  return compute_rate(kPeakOfF32, "GFLOP/s", loop, {});
}

// More bytes than the caches hold, as far as memory allows.
std::size_t bytes_to_read() {
  constexpr std::size_t kLeast = std::size_t{16} << 20, kUsual = std::size_t{192} << 20, kMost = std::size_t{256} << 20;
  const std::size_t wanted = std::clamp(3 * base::cpu_facts().l3_bytes, kUsual, kMost);
  return std::max(std::min(wanted, base::memory_facts().available_bytes / 8), kLeast);
}

PeakRate read_rate(const cpu::ReadLoop& loop) {
  PeakRate rate{.name = std::string(kPeakOfReading), .unit = "GB/s", .instructions = std::string(loop.instructions)};
  constexpr std::size_t kWordsOfAPart = 64, kRepeats = 3;
  const std::size_t threads = base::ThreadPool::shared().size();
  const std::size_t words = bytes_to_read() / sizeof(std::uint64_t) / threads / kWordsOfAPart * kWordsOfAPart;
  Tensor memory = Tensor::uninitialized({DType::u64, {static_cast<std::int64_t>(words * threads)}});
  base::prefer_large_pages(memory.mutable_bytes().data(), memory.byte_count());
  const std::span<std::uint64_t> values = memory.mutable_values<std::uint64_t>();
  // Each thread fills the part that it will read, so that its pages are local to its core.
  least_seconds(threads, 1, [&](std::size_t i) { std::ranges::fill(values.subspan(i * words, words), i + 1); });
  const auto measured = [&](std::size_t workers, std::size_t count) {
    const double seconds =
        least_seconds(workers, kRepeats, [&](std::size_t i) { sink += loop.run(values.data() + i * count, count); });
    return static_cast<double>(workers * count * sizeof(std::uint64_t)) / seconds / 1e9;
  };
  rate.one_thread = measured(1, words * threads);
  rate.all_threads = measured(threads, words);
  return rate;
}

std::string three_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
  return text.data();
}

}  // namespace

MachinePeaks measure_peaks() {
  const Clock::time_point start = Clock::now();
  const cpu::PeakLoops loops = cpu::peak_loops();
  MachinePeaks peaks;
  peaks.threads = base::ThreadPool::shared().size();
  peaks.rates.push_back(multiply_add_rate());
  peaks.rates.push_back(compute_rate(kPeakOfInt8, "GOP/s", loops.int8, "no int8 instructions"));
  peaks.rates.push_back(compute_rate(kPeakOfBf16, "GFLOP/s", loops.bf16, "no bf16 instructions"));
  peaks.rates.push_back(read_rate(loops.read));
  peaks.seconds = seconds_since(start);
  return peaks;
}

double rate_of(const MachinePeaks& peaks, std::string_view name) {
  const auto found = std::ranges::find(peaks.rates, name, &PeakRate::name);
  return found == peaks.rates.end() ? 0 : 1e9 * found->all_threads;  // all units are of 10^9
}

formats::Json to_json(const MachinePeaks& peaks) {
  formats::Json::Array rates;
  for (const PeakRate& rate : peaks.rates) {
    formats::Json::Object object = {{"name", rate.name}, {"unit", rate.unit}};
    if (rate.absent.empty()) {
      object.emplace_back("instructions", rate.instructions);
      object.emplace_back("one_thread", rate.one_thread);
      object.emplace_back("all_threads", rate.all_threads);
    } else {
      object.emplace_back("absent", rate.absent);
    }
    rates.emplace_back(std::move(object));
  }
  return rates;
}

std::string peaks_listing(const MachinePeaks& peaks) {
  std::string text;
  for (const PeakRate& rate : peaks.rates) {
    std::string left = rate.name;
    left.resize(20, ' ');
    text += left;
    if (rate.absent.empty()) {
      text += three_digits(rate.one_thread) + " " + rate.unit + " on one thread";
      if (peaks.threads > 1) text += ", " + three_digits(rate.all_threads) + " on " + std::to_string(peaks.threads);
      text += " (" + rate.instructions + ")";
    } else {
      text += rate.absent;
    }
    text += '\n';
  }
  return text;
}

}  // namespace alate::machine
