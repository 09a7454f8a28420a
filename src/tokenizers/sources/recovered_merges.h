// Merges for vocabularies that come without them (SentencePiece, tiktoken, GGUF): every way to put a token together
// from two others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tokenizers {

/// tokens[token] is tokens[left] followed by tokens[right].
struct TokenSplit {
  std::uint32_t token, left, right;
};

/// Where a token may be cut.
enum class CutAt { code_points, bytes };

/// All splits, by token, then by the length of the left part. Of equal tokens, the last one counts; empty ones never
/// do. Linear in the bytes of the tokens and of the splits. Throws resource_exhausted when the splits' texts have more
/// than kMaxSplitBytes together, as only made-up vocabularies do; `where` names the source.
std::vector<TokenSplit> token_splits(std::span<const std::string_view> tokens, CutAt cut, std::string_view where);

inline constexpr std::size_t kMaxSplitBytes = std::size_t{1} << 28;

/// The pairs of texts, in the order of `splits`.
std::vector<std::pair<std::string, std::string>> merges_of(std::span<const TokenSplit> splits,
                                                           std::span<const std::string_view> tokens);

}  // namespace alate::tokenizers
