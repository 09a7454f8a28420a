// Reports of `alate bench`, in the formats that a user may choose.
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
  std::size_t texts = 0, tokens = 0;          // per run
  std::vector<double> seconds;                // of each run, at least one
  std::optional<formats::Json> profile = {};  // for the JSON format
};

/// Text, markdown, csv or json, ending with a line break. The rate is that of the median run; deviations are sample
/// standard deviations, 0 for a single run.
std::string bench_report(const BenchResult& result, OutputFormat format);

}  // namespace alate::app
