#include "tests/conformance/cases/sequences.h"

#include <algorithm>
#include <random>

namespace alate::conformance {
namespace {

// Lengths that differ and add up to the tokens, none above `longest`; the first is empty where the others hold all.
std::vector<std::int32_t> lengths_of(std::int64_t tokens, std::int64_t sequences, std::int64_t longest) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(sequences));
  std::int64_t left = tokens;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    const std::int64_t share = i % 2 == 0 ? longest : longest - std::min<std::int64_t>(longest - 1, 1);
    const std::int64_t others = static_cast<std::int64_t>(i) * longest;  // what those before can take at most
    const std::int64_t length = std::min(left, std::max(share / 2 + 1, left - others));
    lengths[i] = static_cast<std::int32_t>(std::min(length, longest));
    left -= lengths[i];
  }
  return lengths;
}

Tensor any_pages(const Shape& shape, std::int64_t pages, std::uint64_t seed) {
  Tensor table = Tensor::zeros(shape);
  std::mt19937_64 random(seed);
  if (pages == 0) return table;
  for (std::int32_t& page : table.mutable_values<std::int32_t>())
    page = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(pages));
  return table;
}

}  // namespace

bool is_sequence_kind(std::string_view kind) {
  return kind == "starts" || kind == "lengths" || kind == "cached" || kind == "pages";
}

Tensor sequence_values(const Case& subject, std::size_t place) {
  const ValueKind& kind = subject.operands[place].values;
  if (kind.name == "pages") return any_pages(shape_at_run(subject.operands[place].shape), kind.limit, subject.seed);
  const std::int64_t tokens = shape_at_run(subject.operands[0].shape).dims[0].number();
  std::int64_t sequences = 0, longest = 0;
  for (const Operand& operand : subject.operands) {
    if (operand.values.name != "starts") continue;
    sequences = shape_at_run(operand.shape).dims[0].number();
    longest = operand.values.limit;
  }
  const std::vector<std::int32_t> lengths = lengths_of(tokens, sequences, longest);
  std::vector<std::int32_t> starts, cached;
  std::int32_t start = 0;
  for (const std::int32_t length : lengths) {
    starts.push_back(start);
    start += length;
    const auto number = static_cast<std::int64_t>(cached.size()), most = std::max(kind.limit - length, std::int64_t{0});
    cached.push_back(length + static_cast<std::int32_t>(most * (number + 1) / sequences));
  }
  return Tensor::from<std::int32_t>({sequences}, std::span(kind.name == "starts"    ? starts
                                                           : kind.name == "lengths" ? lengths
                                                                                    : cached));
}

}  // namespace alate::conformance
