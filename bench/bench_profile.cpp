// Where the time of an embedding goes: each kernel's share, by the op and by the part of a layer.
//
//   bench_profile FOLDER [SEQUENCES LENGTH [THREADS]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "pipelines/embedding_graph.h"
#include "runtime/loaded_model.h"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

// "encoder.layer.3.attention" of any layer.
std::string without_layer(std::string_view source) {
  std::string text;
  bool after_layer = false;
  for (const char c : source) {
    if (c >= '0' && c <= '9' && after_layer) {
      text += '*';
    } else {
      text += c;
    }
    after_layer = text.ends_with("layer.");
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_profile FOLDER [SEQUENCES LENGTH [THREADS]]\n");
    return 2;
  }
  const int sequences = argc > 3 ? std::atoi(argv[2]) : 32, length = argc > 3 ? std::atoi(argv[3]) : 128;
  const std::size_t threads = argc > 4 ? static_cast<std::size_t>(std::atoi(argv[4])) : 0;
  const alate::Model model = alate::Model::load(argv[1], {.threads = threads});
  const auto program =
      alate::pipelines::compile_embedding(model.state(), alate::pipelines::read_modules(argv[1]), true);
  std::mt19937 random(7);
  std::map<std::string, std::vector<double>> times;
  std::vector<double> totals;
  for (int round = 0; round < 12; ++round) {
    alate::PackedTokens tokens;
    tokens.lengths.assign(static_cast<std::size_t>(sequences), length);
    for (int i = 0; i < sequences * length; ++i)
      tokens.ids.push_back(static_cast<std::int32_t>(1000 + random() % 20000));
    std::vector<alate::backends::StepTime> profile;
    const auto start = Clock::now();
    (void)program->run(tokens, {}, {.profile = &profile});
    if (round < 2) continue;  // warming up
    totals.push_back(microseconds(Clock::now() - start));
    std::map<std::string, double> sums;
    for (const alate::backends::StepTime& step : profile)
      sums[std::string(step.kernel) + " " + without_layer(step.source)] += microseconds(step.time);
    for (const auto& [name, sum] : sums) times[name].push_back(sum);
  }
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  const double total = median(totals);
  std::printf("%d x %d tokens: %.0f us, %.0f tokens/s\n", sequences, length, total, sequences * length / total * 1e6);
  for (const auto& [name, values] : times)
    std::printf("%9.0f us %5.1f %%  %s\n", median(values), 100 * median(values) / total, name.c_str());
  return 0;
}
