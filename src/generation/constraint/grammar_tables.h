// A grammar as it is run: rules are deterministic automata over bytes, calls of rules, and tokens.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace alate::generation {

/// No rule has the empty text (a caller passes over it instead), no rule begins with itself, and from each node a text
/// can be completed.
struct GrammarTables {
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  struct ByteEdge {
    std::uint8_t first, last;
    std::uint32_t to;
    bool operator==(const ByteEdge&) const = default;
  };
  struct CallEdge {
    std::uint32_t rule, to;
    bool operator==(const CallEdge&) const = default;
  };
  struct TokenEdge {
    std::int32_t token;
    std::uint32_t to;
    bool operator==(const TokenEdge&) const = default;
  };
  /// Edges begin where those of the node before end.
  struct Node {
    std::uint32_t bytes_end, calls_end, tokens_end;
    std::uint32_t rule;
    bool is_final;
    bool operator==(const Node&) const = default;
  };
  /// The automaton is passed through `least` to `most` times.
  struct Rule {
    std::uint32_t start, least, most;
    std::uint32_t rank;  // a rule that may begin with a call of another one has the smaller rank
    bool operator==(const Rule&) const = default;
  };

  std::vector<Node> nodes;
  std::vector<ByteEdge> bytes;  // a node's are in order and do not overlap
  std::vector<CallEdge> calls;
  std::vector<TokenEdge> tokens;
  std::vector<Rule> rules;  // the first is the root
  bool may_be_empty = false;

  std::span<const ByteEdge> bytes_of(std::uint32_t node) const {
    const std::uint32_t begin = node == 0 ? 0 : nodes[node - 1].bytes_end;
    return std::span(bytes).subspan(begin, nodes[node].bytes_end - begin);
  }
  std::span<const CallEdge> calls_of(std::uint32_t node) const {
    const std::uint32_t begin = node == 0 ? 0 : nodes[node - 1].calls_end;
    return std::span(calls).subspan(begin, nodes[node].calls_end - begin);
  }
  std::span<const TokenEdge> tokens_of(std::uint32_t node) const {
    const std::uint32_t begin = node == 0 ? 0 : nodes[node - 1].tokens_end;
    return std::span(tokens).subspan(begin, nodes[node].tokens_end - begin);
  }

  bool operator==(const GrammarTables&) const = default;
};

}  // namespace alate::generation
