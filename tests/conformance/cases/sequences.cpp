#include "tests/conformance/cases/sequences.h"

#include <algorithm>

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

}  // namespace

bool is_sequence_kind(std::string_view kind) { return kind == "starts" || kind == "lengths"; }

Tensor sequence_values(const Case& subject, std::size_t place) {
  const ValueKind& kind = subject.operands[place].values;
  const std::int64_t tokens = shape_at_run(subject.operands[0].shape).dims[0].number();
  std::int64_t sequences = 0;
  for (const Operand& operand : subject.operands) {
    if (operand.values.name == "starts") sequences = shape_at_run(operand.shape).dims[0].number();
  }
  const std::vector<std::int32_t> lengths = lengths_of(tokens, sequences, kind.limit);
  std::vector<std::int32_t> starts;
  std::int32_t start = 0;
  for (const std::int32_t length : lengths) {
    starts.push_back(start);
    start += length;
  }
  return Tensor::from<std::int32_t>({sequences}, std::span(kind.name == "starts" ? starts : lengths));
}

}  // namespace alate::conformance
