// What alate bench found, in the forms that a user may ask for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/alate/common_options.h"
#include "formats/json.h"

namespace alate::app {

struct BenchResult {
  std::string model;
  std::string backend, dtype;
  std::size_t threads = 0;
  std::size_t texts = 0, tokens = 0;          // of one run
  std::vector<double> seconds;                // of each run, at least one
  std::optional<formats::Json> profile = {};  // for JSON
};

/// In text, markdown, csv or json, ending with a line break. The rate is that of the median run; a deviation is that of
/// a sample of runs, 0 for a single one.
std::string bench_report(const BenchResult& result, OutputFormat format);

}  // namespace alate::app
