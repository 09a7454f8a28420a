#include "tests/unit/graph/golden_ops.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/source_folder.h"

namespace alate::graph {

std::vector<GoldenOp> golden_ops(const std::string& op, const std::string& name) {
  std::ifstream file(source_folder() / "tests/golden" / name);
  std::vector<GoldenOp> found;
  std::string line, word;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words >> word;
    if (!op.empty() && word != op) continue;
    GoldenOp& golden = found.emplace_back();
    golden.line = line.substr(0, line.find(" values="));
    while (words >> word) {
      const std::size_t equals = word.find('=');
      std::vector<double>& values = golden.fields[word.substr(0, equals)];
      std::istringstream numbers(word.substr(equals + 1));
      for (std::string number; std::getline(numbers, number, ',');) {
        if (number != "-") values.push_back(std::stod(number));
      }
    }
  }
  EXPECT_FALSE(found.empty()) << op;
  return found;
}

Tensor golden_operand(int number, const Numbers& extents, DType dtype) {
  Tensor tensor = Tensor::zeros(detail::shape_of(dtype, extents));
  std::vector<double> values(tensor.byte_count() / sizeof(double));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<double>((37 * i + 11 * static_cast<std::size_t>(number)) % 23) - 11) / 4;
  if (!values.empty()) std::memcpy(tensor.mutable_bytes().data(), values.data(), tensor.byte_count());
  return tensor;
}

void expect_golden(const Tensor& found, const std::vector<double>& expected, const std::string& line) {
  ASSERT_EQ(found.byte_count(), expected.size() * sizeof(double)) << line;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double value = 0;
    std::memcpy(&value, found.bytes().data() + i * sizeof value, sizeof value);
    if (std::isinf(expected[i])) {
      EXPECT_EQ(value, expected[i]) << line << ", value " << i;
    } else {
      EXPECT_NEAR(value, expected[i], 1e-12 * (1 + std::abs(expected[i]))) << line << ", value " << i;
    }
  }
}

}  // namespace alate::graph
