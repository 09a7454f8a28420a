// The prompt of rerankers that read many texts at once, and which texts come into one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate::pipelines {

/// The tokens whose vectors stand for what is before them.
inline constexpr std::string_view kTextToken = "<|embed_token|>", kQueryToken = "<|rerank_token|>";

/// `text` without these tokens, however often they are written into each other.
std::string without_list_tokens(std::string_view text);

/// As jina-reranker-v3's own code writes a query and its texts; both without the tokens above. `instruction` may be
/// empty.
std::string list_prompt(std::string_view query, std::span<const std::string> texts, std::string_view instruction);

/// How many texts follow each other in each prompt, as jina-reranker-v3's own code divides them: up to 125, and as long
/// as one more of `longest` tokens has room in `capacity` beside the query, which is written twice.
std::vector<std::size_t> list_blocks(std::span<const std::size_t> lengths, std::size_t query_length,
                                     std::size_t capacity, std::size_t longest);

}  // namespace alate::pipelines
