#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/random/random_graphs.h"
#include "tests/conformance/random/shrink.h"

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
  std::set<graph::Op> ops;
  for (std::uint64_t seed = sample.seed; failed < kMostFailures; ++seed) {
    if (options.count ? passed + failed >= *options.count : Clock::now() >= end) break;
    const Subject subject = random_graph(seed);
    for (const graph::Node& node : subject.graph.nodes()) {
      if (graph::op_info(node.op).kind == graph::OpKind::leaf) continue;
      ++nodes;
      ops.insert(node.op);
    }
    if (!find_difference(backend, subject)) {
      ++passed;
      continue;
    }
    ++failed;
    report(backend, seed, subject);
  }
  std::printf("%llu nodes of %zu ops\n%zu passed, %zu failed\n", static_cast<unsigned long long>(nodes), ops.size(),
              passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

int run_graph(backends::Backend& backend, const Options& options) {
  std::vector<std::filesystem::path> paths = {*options.graph};
  if (std::filesystem::is_directory(*options.graph)) {
    paths.assign(std::filesystem::directory_iterator(*options.graph), {});
    std::sort(paths.begin(), paths.end());
  }
  std::size_t passed = 0, failed = 0;
  for (const std::filesystem::path& path : paths) {
    const Subject subject = parse_subject(base::read_text_file(path));
    auto detail = why_no_bound(subject);
    if (!detail) detail = find_difference(backend, subject);
    (detail ? failed : passed) += 1;
    if (detail) std::printf("FAILED %s\n  %s\n", path.string().c_str(), detail->c_str());
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace alate::conformance
