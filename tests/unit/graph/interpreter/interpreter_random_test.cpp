// Random bits against XLA's: tests/golden/random_bits.txt, which record_random_bits.py wrote.
#include <fstream>
#include <sstream>

#include "graph/reference/values.h"
#include "tests/source_folder.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

std::vector<std::uint64_t> words(const std::string& text, int base) {
  std::vector<std::uint64_t> result;
  std::istringstream parts(text);
  for (std::string part; text != "-" && std::getline(parts, part, ',');)
    result.push_back(std::stoull(part, nullptr, base));
  return result;
}

TEST(Interpreter, RandomBitsAndStatesAreXlas) {
  std::ifstream file(source_folder() / "tests/golden/random_bits.txt");
  std::string algorithm, dtype, extents, state, new_state, bits;
  int count = 0;
  while (file >> algorithm >> dtype >> extents >> state >> new_state >> bits) {
    const std::string what = algorithm + " " + dtype + " " + extents + " " + state;
    ++count;
    RngBitGenerator generator{
        algorithm == "philox" ? RngAlgorithm::philox : RngAlgorithm::threefry, parse_dtype(dtype).value(), {}};
    for (const std::uint64_t extent : words(extents, 10))
      generator.dims.emplace_back(static_cast<std::int64_t>(extent));
    const std::vector<std::uint64_t> before = words(state, 16);
    const Tensor input =
        Tensor::from<std::uint64_t>({static_cast<std::int64_t>(before.size())}, std::span<const std::uint64_t>(before));
    const Graph graph = graph_of(Op::rng_bit_generator, {input.shape()}, generator);
    const std::vector<Tensor> found = interpret(graph, std::vector<Tensor>{input}, base::Cancellation::never());
    EXPECT_EQ(load_words(found[0]), words(new_state, 16)) << what;
    EXPECT_EQ(load_words(found[1]), words(bits, 16)) << what;
    EXPECT_EQ(found[1].shape(), (Shape{generator.dtype, generator.dims})) << what;
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace alate::graph
