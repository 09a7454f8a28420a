// The texts of a vocabulary's tokens, as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::generation {

/// The bytes that each token adds to a text: empty for special tokens, for those that end a text, and for ids that no
/// token has. A token may be a part of a code point.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, std::size_t size, std::span<const std::int32_t> ends);

/// Whether the first token of a text loses the space that it begins with, as with SentencePiece.
bool drops_first_space(const Tokenizer& tokenizer, std::span<const std::string> texts);

/// Immutable; thread-safe.
class Vocabulary {
 public:
  /// Tokens with empty texts are in no node.
  explicit Vocabulary(std::span<const std::string> texts, bool drops_first_space = false);

  /// The number of tokens, and of words of a mask of them.
  std::size_t size() const { return texts_.size(); }
  std::size_t mask_words() const { return (texts_.size() + 31) / 32; }
  const std::string& text(std::int32_t token) const { return texts_[static_cast<std::size_t>(token)]; }
  std::size_t longest() const { return longest_; }
  bool drops_first_space() const { return drops_first_space_; }

  /// A node is the text on the way to it from the root, node 0. Nodes are in the order of a walk, parents first.
  struct Node {
    std::uint32_t end;     // behind the nodes below it
    std::uint32_t tokens;  // where its tokens begin; they end where those of the next node begin
    std::uint16_t depth;   // bytes of its text
    std::uint8_t byte;     // the last of them
  };
  std::span<const Node> nodes() const { return {nodes_.data(), nodes_.size() - 1}; }
  std::span<const std::int32_t> tokens(std::size_t node) const {
    return std::span(tokens_).subspan(nodes_[node].tokens, nodes_[node + 1].tokens - nodes_[node].tokens);
  }
  /// The child of the root with this byte; 0 if there is none.
  std::uint32_t first(std::uint8_t byte) const;

 private:
  std::vector<std::string> texts_;  // by token
  std::vector<Node> nodes_;         // and one behind the last
  std::vector<std::int32_t> tokens_;
  std::size_t longest_ = 0;
  bool drops_first_space_;
};

}  // namespace alate::generation
