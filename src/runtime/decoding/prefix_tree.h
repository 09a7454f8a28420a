// The prefixes whose keys and values are in pages: a radix tree over token ids, a page an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runtime/decoding/page_store.h"

namespace alate::runtime {

/// Nodes are pages; one that is full may have others below it, and never changes. One that is not full stands for the
/// tokens that were in it when it was added: the sequence that owns it may write more behind them, all others copy it.
/// Not thread-safe.
class PrefixTree {
 public:
  explicit PrefixTree(PageStore& store) : store_(store) { root_.parent = nullptr; }
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  struct Match {
    std::vector<std::int32_t> pages = {};  // full ones, from the beginning
    std::size_t rows = 0;                  // tokens after them, which are at the beginning of `partial`
    std::int32_t partial = -1;

    std::size_t tokens() const { return pages.size() * static_cast<std::size_t>(kPageRows) + rows; }
  };
  /// The longest prefix of `ids` that is here. Counts no readers: pages may go with the next call.
  Match find(std::span<const std::int32_t> ids);

  /// Adds a sequence's tokens, which are in its pages. Where a full page is here already, the sequence gets that one
  /// for its own, so that a sequence reads all pages above those that it reads.
  void keep(std::span<const std::int32_t> ids, std::span<std::int32_t> pages);

  /// Drops the page that has been idle for longest, of those without pages below; false if there is none.
  bool evict();
  /// Drops a page that is not full, if it is here: its values are lost.
  void forget(std::int32_t page);

  std::size_t size() const { return recent_.size(); }

 private:
  struct Node;
  struct ByIds {
    using is_transparent = void;
    bool operator()(std::span<const std::int32_t> a, std::span<const std::int32_t> b) const;
  };
  // None is the beginning of another.
  using Children = std::map<std::vector<std::int32_t>, std::unique_ptr<Node>, ByIds>;
  struct Node {
    Node* parent = nullptr;
    std::int32_t page = -1;
    Children children = {};
    Children::iterator place = {};            // in the parent's
    std::list<Node*>::iterator recency = {};  // in recent_
  };

  Node* add(Node& parent, std::span<const std::int32_t> ids, std::int32_t page);
  void remove(Node& node);
  void touch(Node* node);

  PageStore& store_;
  Node root_;
  std::list<Node*> recent_;  // the one used last at the end; nodes are before those above them
};

}  // namespace alate::runtime
