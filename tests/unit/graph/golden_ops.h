// Lines of tests/golden/window_ops.txt and files like it; record_window_ops.py says what they mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unit/graph/run_op.h"

namespace alate::graph {

struct GoldenOp {
  std::string line;  // its first words, to say which one failed
  std::map<std::string, std::vector<double>> fields;

  const std::vector<double>& values(const std::string& name) const { return fields.at(name); }
  Numbers numbers(const std::string& name) const { return {values(name).begin(), values(name).end()}; }
  std::int64_t number(const std::string& name) const { return numbers(name).at(0); }
};

/// Every line of a file of tests/golden that begins with `op`; every line, where that is empty.
std::vector<GoldenOp> golden_ops(const std::string& op, const std::string& file = "window_ops.txt");

/// The script's operand `number` of these extents: f64, or c128.
Tensor golden_operand(int number, const Numbers& extents, DType dtype = DType::f64);

/// Expects f64 (or c128, as pairs) values that differ from `expected` by rounding alone.
void expect_golden(const Tensor& found, const std::vector<double>& expected, const std::string& line);

}  // namespace alate::graph
