#include "pipelines/rerank/list_prompt.h"

#include <cstdint>

namespace alate::pipelines {
namespace {

constexpr std::size_t kMostTexts = 125;

// Source of both: jinaai/jina-reranker-v3, modeling.py.
constexpr std::string_view kBefore =
    "<|im_start|>system\n"
    "You are a search relevance expert who can determine a ranking of the passages based on how relevant they are to "
    "the query. If the query is a question, how relevant a passage is depends on how well it answers the question. If "
    "not, try to analyze the intent of the query and assess how well each passage satisfies the intent. If an "
    "instruction is provided, you should follow the instruction when determining the ranking.<|im_end|>\n"
    "<|im_start|>user\n";
constexpr std::string_view kAfter = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";

// Appends `text`, and removes a token that its last byte completes: none is left, even where one is inside of another.
void append_without_tokens(std::string& to, std::string_view text) {
  for (const char c : text) {
    to.push_back(c);
    if (c != '>') continue;
    for (const std::string_view token : {kTextToken, kQueryToken}) {
      if (to.ends_with(token)) to.resize(to.size() - token.size());
    }
  }
}

}  // namespace

std::string without_list_tokens(std::string_view text) {
  std::string kept;
  append_without_tokens(kept, text);
  return kept;
}

std::string list_prompt(std::string_view query, std::span<const std::string> texts, std::string_view instruction) {
  std::string prompt(kBefore);
  prompt += "I will provide you with " + std::to_string(texts.size()) +
            " passages, each indicated by a numerical identifier. Rank the passages based on their relevance to "
            "query: ";
  prompt.append(query).append("\n");
  if (!instruction.empty()) prompt.append("<instruct>\n").append(instruction).append("\n</instruct>\n");
  for (std::size_t i = 0; i < texts.size(); ++i)
    prompt.append("<passage id=\"" + std::to_string(i) + "\">\n")
        .append(texts[i])
        .append(kTextToken)
        .append("\n</passage>\n");
  prompt.append("<query>\n").append(query).append(kQueryToken).append("\n</query>");
  return prompt.append(kAfter);
}

std::vector<std::size_t> list_blocks(std::span<const std::size_t> lengths, std::size_t query_length,
                                     std::size_t capacity, std::size_t longest) {
  const auto whole = static_cast<std::int64_t>(capacity) - 2 * static_cast<std::int64_t>(query_length);
  std::int64_t left = whole;
  std::vector<std::size_t> blocks;
  std::size_t count = 0;
  for (const std::size_t length : lengths) {
    ++count;
    left -= static_cast<std::int64_t>(length);
    if (count < kMostTexts && left > static_cast<std::int64_t>(longest)) continue;
    blocks.push_back(count);
    count = 0;
    left = whole;
  }
  if (count > 0) blocks.push_back(count);
  return blocks;
}

}  // namespace alate::pipelines
