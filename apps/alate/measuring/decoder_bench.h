// How fast a language model reads prompts and writes, as llama-bench measures it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "alate/generation.h"
#include "apps/alate/common_options.h"
#include "apps/alate/measuring/profiling.h"
#include "formats/json.h"

namespace alate::app {

struct DecoderBenchOptions {
  std::vector<std::size_t> prompts = {512}, texts = {128};  // tokens of each test
  std::size_t sequences = 1;                                // at the same time
  std::size_t repeat = 5;
};

/// A test: "pp512" reads a prompt of 512 tokens, "tg128" writes 128 tokens, one after the other, behind nothing;
/// "tg128x8" does so for 8 sequences at once.
struct DecoderTest {
  std::string name;
  std::size_t tokens = 0;       // of a run, of all sequences
  std::vector<double> seconds;  // of each run
};

/// Runs the tests with random ids, after one run of each that is not measured. Neither a tokenizer nor the choice of
/// tokens is in the times. Throws invalid_argument for more tokens than the context has.
std::vector<DecoderTest> bench_decoder(const TextGenerator& generator, const DecoderBenchOptions& options,
                                       Profiler& profiler);

/// Of a model.
struct DecoderBenchReport {
  std::string model, backend, dtype;
  std::size_t bytes = 0, parameters = 0, threads = 0;
  std::vector<DecoderTest> tests;
  std::optional<formats::Json> profile = {};
};
/// Text, markdown, csv or json, ending with a line break: a row for each test.
std::string decoder_bench_report(const DecoderBenchReport& report, OutputFormat format);

}  // namespace alate::app
