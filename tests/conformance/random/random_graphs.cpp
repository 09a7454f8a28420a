#include "tests/conformance/random/random_graphs.h"

#include "tests/conformance/random/random_nodes.h"

namespace alate::conformance {

Subject random_graph(std::uint64_t seed) {
  Random random(seed);
  RandomNodes nodes("random " + std::to_string(seed), random);
  const std::size_t wanted = 3 + random() % 38;
  for (std::size_t tries = 0; nodes.count() < wanted && tries < 4 * wanted; ++tries) nodes.add();
  return nodes.finish();
}

}  // namespace alate::conformance
