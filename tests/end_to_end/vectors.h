// Vectors that the program computes from texts, and their comparison.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {

/// Vectors of the lines of quantization_texts.txt, by `alate embed` with `more` arguments.
inline Tensor vectors_of(const std::string& model, const std::vector<std::string>& more = {},
                         const ProgramSetting& setting = {}) {
  const base::TemporaryFolder folder;
  const std::string out = (folder.path() / "vectors.safetensors").string();
  const std::string texts = (source_folder() / "tests/end_to_end/quantization_texts.txt").string();
  std::vector<std::string> arguments = {"embed", model, "--file", texts, "--out", out, "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return formats::read_tensors(out).front().tensor;
}

struct Cosines {
  double mean = 0, worst = 1;
};

/// Of the rows of two matrices of one shape.
inline Cosines compare_rows(const Tensor& a, const Tensor& b) {
  Cosines cosines;
  const auto rows = static_cast<std::size_t>(a.extent(0)), width = static_cast<std::size_t>(a.extent(1));
  for (std::size_t row = 0; row < rows; ++row) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      const double x = double{a.values<float>()[i]}, y = double{b.values<float>()[i]};
      dot += x * y;
      aa += x * x;
      bb += y * y;
    }
    const double cosine = dot / std::sqrt(aa * bb);
    cosines.mean += cosine / static_cast<double>(rows);
    // A NaN is no worse by comparison, and must not be passed over.
    cosines.worst = std::isnan(cosine) ? cosine : std::min(cosines.worst, cosine);
  }
  return cosines;
}

}  // namespace alate::tests
