#include "runtime/decoding/prefix_tree.h"

#include <algorithm>

namespace alate::runtime {
namespace {

using Ids = std::span<const std::int32_t>;

constexpr auto kRows = static_cast<std::size_t>(kPageRows);

std::size_t common_prefix(Ids a, Ids b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool begins_with(Ids ids, Ids prefix) { return common_prefix(ids, prefix) == prefix.size(); }

}  // namespace

bool PrefixTree::ByIds::operator()(Ids a, Ids b) const { return std::ranges::lexicographical_compare(a, b); }

PrefixTree::Match PrefixTree::find(Ids ids) {
  Match match;
  Node* node = &root_;
  for (; ids.size() >= kRows; ids = ids.subspan(kRows)) {
    const auto child = node->children.find(ids.first(kRows));
    if (child == node->children.end()) break;
    node = child->second.get();
    match.pages.push_back(node->page);
  }
  // The one that has most in common is beside the place where the ids would be.
  Children& children = node->children;
  const auto next = children.lower_bound(ids.first(std::min(ids.size(), kRows)));
  for (auto beside : {next, next == children.begin() ? children.end() : std::prev(next)}) {
    if (beside == children.end()) continue;
    const std::size_t rows = common_prefix(ids, beside->first);
    if (rows <= match.rows) continue;
    match.rows = rows;
    match.partial = beside->second->page;
    node = beside->second.get();
  }
  touch(node);
  return match;
}

void PrefixTree::keep(Ids ids, std::span<std::int32_t> pages) {
  Node* node = &root_;
  for (std::size_t i = 0; !ids.empty(); ++i) {
    const Ids of_page = ids.first(std::min(ids.size(), kRows));
    ids = ids.subspan(of_page.size());
    const auto same = node->children.lower_bound(of_page);
    if (same != node->children.end() && begins_with(same->first, of_page)) {
      node = same->second.get();
      if (of_page.size() == kRows && node->page != pages[i]) {
        store_.add_reader(node->page);
        store_.remove_reader(pages[i]);
        pages[i] = node->page;
      }
    } else {
      node = add(*node, of_page, pages[i]);
    }
  }
  touch(node);
}

PrefixTree::Node* PrefixTree::add(Node& parent, Ids ids, std::int32_t page) {
  const auto next = parent.children.lower_bound(ids);
  // A shorter beginning of the same would be found no more. It may be the same page.
  if (next != parent.children.begin()) {
    const auto before = std::prev(next);
    if (begins_with(ids, before->first)) remove(*before->second);
  }
  auto made = std::make_unique<Node>();
  Node& node = *made;
  node.parent = &parent;
  node.page = page;
  node.place = parent.children.emplace(std::vector<std::int32_t>(ids.begin(), ids.end()), std::move(made)).first;
  try {
    node.recency = recent_.insert(recent_.end(), &node);
  } catch (...) {
    parent.children.erase(node.place);
    throw;
  }
  store_.keep(page);
  return &node;
}

void PrefixTree::remove(Node& node) {
  store_.drop(node.page);
  recent_.erase(node.recency);
  node.parent->children.erase(node.place);
}

void PrefixTree::touch(Node* node) {
  for (; node != &root_; node = node->parent) recent_.splice(recent_.end(), recent_, node->recency);
}

bool PrefixTree::evict() {
  for (Node* node : recent_) {
    if (!node->children.empty() || !store_.is_idle(node->page)) continue;
    remove(*node);
    return true;
  }
  return false;
}

void PrefixTree::forget(std::int32_t page) {
  const auto found = std::ranges::find_if(
      recent_, [&](const Node* node) { return node->page == page && node->place->first.size() < kRows; });
  if (found != recent_.end()) remove(**found);
}

}  // namespace alate::runtime
