#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <set>

#include "alate/error.h"
#include "backends/cpu/kernels/dispatch/peak.h"
#include "base/threads/thread_pool.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/module.h"
#include "tests/conformance/modes.h"

namespace alate::conformance {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 23;  // of a large operand: past the caches
constexpr std::int64_t kElementsOfReference = 100000;
constexpr int kRounds = 7;
constexpr double kSmallBytes = 1 << 20;
constexpr std::size_t kCopied = std::size_t{64} << 20;

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Spread {
  double lowest, median, highest;
};
Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

// A copy with all threads, by which bandwidth is judged: bytes read and written.
class Copy {
 public:
  Copy() : from_(kCopied), to_(kCopied) {}
  double bytes_per_second() {
    base::ThreadPool& pool = base::ThreadPool::shared();
    const std::size_t parts = pool.size(), part = kCopied / parts;
    const double seconds = seconds_of([&] {
      pool.parallel_for(parts, 0, [&](std::size_t i, std::size_t) {
        std::memcpy(to_.data() + i * part, from_.data() + i * part, part);
      });
    });
    return 2.0 * static_cast<double>(part * parts) / seconds;
  }

 private:
  std::vector<char> from_, to_;
};

double elements(const Shape& shape) { return static_cast<double>(shape.element_count()); }

// Multiplications and additions of an op that does many for each byte; 0 for others.
double operations_of(const Case& subject, const Shape& result) {
  const auto operand = [&](std::size_t i) { return shape_at_run(subject.operands[i].shape); };
  if (const auto* dot = std::get_if<graph::DotGeneral>(&subject.attributes)) {
    double contracted = 1;
    for (const std::int64_t axis : dot->lhs_contracting)
      contracted *= static_cast<double>(operand(0).dims[static_cast<std::size_t>(axis)].number());
    return 2 * elements(result) * contracted;
  }
  if (std::holds_alternative<graph::Dense>(subject.attributes))
    return 2 * elements(result) * static_cast<double>(operand(1).dims[1].number());
  if (const auto* conv = std::get_if<graph::Convolution>(&subject.attributes)) {
    const Shape kernel = operand(1);
    const auto outputs = static_cast<double>(kernel.dims[static_cast<std::size_t>(conv->kernel_output)].number());
    return outputs == 0 ? 0 : 2 * elements(result) * elements(kernel) / outputs;
  }
  const auto* attention = std::get_if<graph::Attention>(&subject.attributes);
  // Without what hides keys, for which fewer are computed.
  if (subject.op == graph::Op::attention && !attention->has_lengths && !attention->causal &&
      attention->window_left < 0 && attention->window_right < 0) {
    const Shape query = operand(0), key = operand(1), value = operand(2);
    const double scores =
        elements(query) / static_cast<double>(query.dims[3].number()) * static_cast<double>(key.dims[1].number());
    return 2 * scores * static_cast<double>(query.dims[3].number() + value.dims[3].number());
  }
  return 0;
}

Cases large_cases_of(const graph::OpInfo& op, std::int64_t large) {
  for (const DType dtype : {DType::f32, DType::i32, DType::boolean, DType::c64, DType::u64, DType::u32}) {
    if (!graph::contains(op.dtypes, dtype)) continue;
    Cases found = large_cases(op, dtype, large);
    if (!found.empty()) return found;
  }
  return {};
}

// As f32[8, 16] f32[16].
std::string operands_of(const Case& subject) {
  std::string text;
  for (const Operand& operand : subject.operands)
    text += (text.empty() ? "" : " ") + to_string(shape_at_run(operand.shape));
  return text;
}

void measure(backends::Backend& backend, const graph::OpInfo& op, const Case& subject, Copy& copy, double peak) {
  const Module module = make_module({&subject, 1});
  const std::unique_ptr<backends::Executable> executable = backend.compile(module.graph, {});
  const backends::Device device = backend.devices().at(0);
  std::vector<backends::Buffer> inputs, outputs(module.graph.outputs().size());
  double bytes = 0;
  for (const Tensor& input : module.inputs) {
    inputs.push_back(backend.upload(input, device));
    bytes += static_cast<double>(input.byte_count());
  }
  const auto run = [&] { executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()}); };
  run();  // binds shapes and makes the outputs, which later runs write again
  double operations = 0;
  for (const backends::Buffer& output : outputs) {
    bytes += static_cast<double>(output.shape().byte_count());
    operations += operations_of(subject, output.shape());
  }
  std::vector<double> rates, peaks, shares;
  for (int round = 0; round < kRounds; ++round) {
    peaks.push_back(copy.bytes_per_second());
    rates.push_back((operations > 0 ? operations : bytes) / seconds_of(run));
    shares.push_back(100 * rates.back() / peaks.back());
  }
  const auto [low, median, high] = spread_of(rates);
  std::printf("%-24s %8.2f %s (%.2f … %.2f)", std::string(op.name).c_str(), median / 1e9,
              operations > 0 ? "GF/s" : "GB/s", low / 1e9, high / 1e9);
  if (bytes < kSmallBytes && operations == 0)
    std::printf("  %.1f µs: too small for a share", 1e6 * bytes / median);
  else if (operations > 0)
    std::printf("  %5.1f %% of the peak", 100 * median / peak);
  else
    std::printf("  %5.1f %% of a copy's %.2f GB/s", spread_of(shares).median, spread_of(peaks).median / 1e9);
  std::printf("  %s\n", operands_of(subject).c_str());
  std::fflush(stdout);
}

}  // namespace

int run_perf(backends::Backend& backend, const Options& options) {
  Copy copy;
  copy.bytes_per_second();
  const double peak = cpu::peak_operations_per_second(base::ThreadPool::shared(), 0);
  std::printf(
      "bytes of operands and results, or multiplications and additions; median (lowest … highest) of %d rounds, "
      "each after a copy; peak of f32 in registers %.1f GF/s\n",
      kRounds, peak / 1e9);
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind == graph::OpKind::leaf || !is_chosen(options, op.name)) continue;
    std::set<std::string> seen;  // one of each shape, whatever its attributes
    for (const Case& subject : large_cases_of(op, backend.name() == "reference" ? kElementsOfReference : kElements)) {
      if (!seen.insert(operands_of(subject)).second) continue;
      try {
        measure(backend, op, subject, copy, peak);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::unsupported) throw;
        std::printf("%-24s unsupported: %s\n", std::string(op.name).c_str(), error.message().c_str());
      }
    }
  }
  return 0;
}

}  // namespace alate::conformance
