#include "graph/reference/elementwise/elementwise.h"

namespace alate::graph {

std::vector<double> load_as(const Tensor& tensor, double) { return load_floats(tensor); }
std::vector<Complex> load_as(const Tensor& tensor, Complex) { return load_complex(tensor); }
std::vector<std::uint64_t> load_as(const Tensor& tensor, std::uint64_t) { return load_words(tensor); }
std::vector<std::int64_t> load_as(const Tensor& tensor, std::int64_t) {
  const std::vector<std::uint64_t> words = load_words(tensor);
  return {words.begin(), words.end()};
}

Tensor store_any(const Shape& shape, const std::vector<double>& values) { return store_floats(shape, values); }
Tensor store_any(const Shape& shape, const std::vector<Complex>& values) { return store_complex(shape, values); }
Tensor store_any(const Shape& shape, const std::vector<std::uint64_t>& words) { return store_words(shape, words); }
Tensor store_any(const Shape& shape, const std::vector<std::int64_t>& words) {
  return store_words(shape, std::vector<std::uint64_t>(words.begin(), words.end()));
}

}  // namespace alate::graph
