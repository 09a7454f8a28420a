#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>

#include "alate/error.h"
#include "graph/text/text.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/module.h"
#include "tests/conformance/modes.h"
#include "tests/conformance/runner.h"

namespace alate::conformance {
namespace {

constexpr std::size_t kMostTogether = 48;
constexpr std::int64_t kMostElementsTogether = 300000;
constexpr std::size_t kMostShown = 4;     // failures of an op and dtype that are printed
constexpr std::size_t kSampled = 16;      // cases of an op and dtype that a sample takes at a time
constexpr std::size_t kSampledFirst = 3;  // … of each op, before it looks at the clock

using Random = std::mt19937_64;
using Clock = std::chrono::steady_clock;

struct Pair {
  const graph::OpInfo* op;
  DType dtype;
};

template <typename Element>
void shuffle(std::vector<Element>& elements, Random& random) {  // std::shuffle differs between libraries
  for (std::size_t i = elements.size(); i > 1; --i) std::swap(elements[i - 1], elements[random() % i]);
}

class Tally {
 public:
  explicit Tally(backends::Backend& backend) : backend_(backend) {}

  void run(const Pair& pair, std::span<const Case> cases) {
    while (!cases.empty()) {
      std::size_t count = 0;
      std::int64_t elements = 0;
      while (count < std::min(cases.size(), kMostTogether) && (count == 0 || elements < kMostElementsTogether))
        elements += elements_of(cases[count++]);
      const std::vector<Verdict> verdicts = run_together(backend_, cases.first(count));
      for (std::size_t i = 0; i < count; ++i) add(pair, cases[i], verdicts[i]);
      cases = cases.subspan(count);
    }
  }

  void no_cases(const Pair& pair) {
    ++failed_;
    std::printf("FAILED %s %s: its generator gives no case\n", name(pair).c_str(),
                std::string(to_string(pair.dtype)).c_str());
  }

  int finish() const {
    for (const auto& [key, shown] : shown_) {
      if (shown > kMostShown) std::printf("%s: %zu more failures\n", key.c_str(), shown - kMostShown);
    }
    std::size_t unsupported = 0;
    for (const auto& [key, reasons] : unsupported_) {
      for (const auto& [reason, count] : reasons) {
        std::printf("unsupported %s (%zu cases): %s\n", key.c_str(), count, reason.c_str());
        unsupported += count;
      }
    }
    std::printf("%zu unsupported, of %zu ops and dtypes\n", unsupported, unsupported_.size());
    std::printf("%zu passed, %zu failed\n", passed_, failed_);
    return failed_ == 0 && passed_ > 0 ? 0 : 1;
  }

 private:
  static std::string name(const Pair& pair) { return std::string(pair.op->name); }

  void add(const Pair& pair, const Case& subject, const Verdict& verdict) {
    const std::string key = name(pair) + " " + std::string(to_string(pair.dtype));
    if (verdict.outcome == Outcome::passed) {
      ++passed_;
    } else if (verdict.outcome == Outcome::unsupported) {
      ++unsupported_[key][verdict.detail.substr(0, verdict.detail.find("; choose another backend"))];
    } else {
      ++failed_;
      if (++shown_[key] > kMostShown) return;
      std::printf("FAILED %s\n  %s\n  replay: alate-conformance --backend %s --case '%s'\n", key.c_str(),
                  verdict.detail.c_str(), std::string(backend_.name()).c_str(), print_case(subject).c_str());
      std::fflush(stdout);
    }
  }

  backends::Backend& backend_;
  std::size_t passed_ = 0, failed_ = 0;
  std::map<std::string, std::size_t> shown_;
  std::map<std::string, std::map<std::string, std::size_t>> unsupported_;  // by op and dtype, then by reason
};

std::vector<Pair> chosen_pairs(const Options& options) {
  std::vector<Pair> pairs;
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind == graph::OpKind::leaf || !is_chosen(options, op.name)) continue;
    for (const DType dtype : all_dtypes()) {
      if (graph::contains(op.dtypes, dtype)) pairs.push_back({&op, dtype});
    }
  }
  return pairs;
}

void run_sample(Tally& tally, std::vector<Pair> pairs, const Sample& sample) {
  Random random(sample.seed);
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(sample.seconds));
  std::uint64_t seed = sample.seed;
  const auto take = [&](const Pair& pair, std::size_t most) {
    Cases cases = cases_of(*pair.op, pair.dtype, seed);
    if (cases.empty()) return tally.no_cases(pair);
    shuffle(cases, random);
    cases.resize(std::min(cases.size(), most));
    tally.run(pair, cases);
  };
  shuffle(pairs, random);
  std::map<graph::Op, Pair> one_of_each;
  for (const Pair& pair : pairs) one_of_each.insert_or_assign(pair.op->op, pair);
  for (const auto& [op, pair] : one_of_each) take(pair, kSampledFirst);
  for (; Clock::now() < end; ++seed) {
    for (const Pair& pair : pairs) {
      if (Clock::now() >= end) break;
      take(pair, kSampled);
    }
  }
}

}  // namespace

bool is_chosen(const Options& options, std::string_view op) {
  return !options.op || std::regex_match(op.begin(), op.end(), *options.op);
}

int run_test(backends::Backend& backend, const Options& options) {
  const std::vector<Pair> pairs = chosen_pairs(options);
  if (pairs.empty()) throw make_error(ErrorCode::invalid_argument, "--op matches no op");
  Tally tally(backend);
  if (options.sample) {
    run_sample(tally, pairs, *options.sample);
  } else {
    for (const Pair& pair : pairs) {
      const Cases cases = cases_of(*pair.op, pair.dtype, 1);
      if (cases.empty()) tally.no_cases(pair);
      tally.run(pair, cases);
    }
  }
  return tally.finish();
}

int run_case(backends::Backend& backend, const Options& options) {
  const Case subject = parse_case(*options.single_case);
  const Verdict verdict = run_alone(backend, subject);
  if (verdict.outcome == Outcome::passed) {
    std::printf("1 passed, 0 failed\n");
    return 0;
  }
  if (verdict.outcome == Outcome::unsupported) {
    std::printf("unsupported: %s\n0 passed, 0 failed\n", verdict.detail.c_str());
    return 1;
  }
  std::printf("FAILED %s\n  %s\n%s0 passed, 1 failed\n", print_case(subject).c_str(), verdict.detail.c_str(),
              graph::print_graph(make_module({&subject, 1}).graph).c_str());
  return 1;
}

}  // namespace alate::conformance
