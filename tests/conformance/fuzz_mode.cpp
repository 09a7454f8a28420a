#include <chrono>
#include <cstdio>
#include <fstream>

#include "alate/error.h"
#include "base/mapped_file.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/random_graphs.h"
#include "tests/conformance/shrink.h"

namespace alate::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsUnlessGiven = 60;
constexpr std::size_t kMostFailures = 20;

void report(backends::Backend& backend, std::uint64_t seed, const Subject& subject) {
  const Subject small =
      shrink(subject, [&](const Subject& each) { return find_difference(backend, each).has_value(); });
  const std::string detail = find_difference(backend, small).value_or("");
  const std::string text = print_subject(small);
  const std::string path = "graph_" + std::to_string(seed) + ".txt";
  std::ofstream(path) << text;
  std::printf("FAILED seed %llu\n  %s\n%s  replay: alate-conformance --backend %s --graph %s\n",
              static_cast<unsigned long long>(seed), detail.c_str(), text.c_str(), std::string(backend.name()).c_str(),
              path.c_str());
  std::fflush(stdout);
}

}  // namespace

int run_fuzz(backends::Backend& backend, const Options& options) {
  const Sample sample = options.sample.value_or(Sample{1, kSecondsUnlessGiven});
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(sample.seconds));
  std::size_t passed = 0, failed = 0;
  std::uint64_t nodes = 0;
  for (std::uint64_t seed = sample.seed; failed < kMostFailures; ++seed) {
    if (options.count ? passed + failed >= *options.count : Clock::now() >= end) break;
    const Subject subject = random_graph(seed);
    nodes += subject.graph.nodes().size();
    if (!find_difference(backend, subject)) {
      ++passed;
      continue;
    }
    ++failed;
    report(backend, seed, subject);
  }
  std::printf("%llu nodes\n%zu passed, %zu failed\n", static_cast<unsigned long long>(nodes), passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

int run_graph(backends::Backend& backend, const Options& options) {
  const Subject subject = parse_subject(base::read_text_file(*options.graph));
  if (const auto detail = find_difference(backend, subject)) {
    std::printf("FAILED %s\n  %s\n0 passed, 1 failed\n", options.graph->c_str(), detail->c_str());
    return 1;
  }
  std::printf("1 passed, 0 failed\n");
  return 0;
}

}  // namespace alate::conformance
