#include "tokenizers/sources/recovered_merges.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "alate/error.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

// FNV-1a, by which the hashes of all prefixes (or suffixes) of a token take one pass over it.
constexpr std::uint64_t kStart = 0xCBF29CE484222325u;
constexpr std::uint64_t step(std::uint64_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
}

class Splitter {
 public:
  Splitter(std::span<const std::string_view> tokens, CutAt cut, std::string_view where)
      : tokens_(tokens), cut_(cut), where_(where) {
    if (tokens.size() > std::numeric_limits<std::uint32_t>::max())
      throw make_error(ErrorCode::resource_exhausted, where, " has too many tokens");
    index_.reserve(tokens.size());
    forward_.reserve(tokens.size());
    backward_.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      index_[tokens[i]] = static_cast<std::uint32_t>(i);
      std::uint64_t forward = kStart, backward = kStart;
      for (const char byte : tokens[i]) forward = step(forward, byte);
      for (std::size_t at = tokens[i].size(); at > 0; --at) backward = step(backward, tokens[i][at - 1]);
      forward_.insert(forward);
      backward_.insert(backward);
    }
  }

  std::vector<TokenSplit> all() {
    std::vector<TokenSplit> splits;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto token = static_cast<std::uint32_t>(i);
      if (index_.at(tokens_[i]) == token) append(token, splits);
    }
    return splits;
  }

 private:
  // Cuts after which both parts may be tokens, by their hashes.
  void find_cuts(std::string_view text) {
    cuts_.clear();
    std::uint64_t hash = kStart;
    for (std::size_t at = 1; at < text.size(); ++at) {
      hash = step(hash, text[at - 1]);
      if ((cut_ == CutAt::bytes || starts_code_point(text[at])) && forward_.contains(hash)) cuts_.push_back(at);
    }
    std::size_t kept = cuts_.size();
    std::size_t left = cuts_.size();
    hash = kStart;
    for (std::size_t at = text.size() - 1; at > 0 && left > 0; --at) {
      hash = step(hash, text[at]);
      if (cuts_[left - 1] != at) continue;
      --left;
      if (backward_.contains(hash)) cuts_[--kept] = at;
    }
    cuts_.erase(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(kept));
  }

  void append(std::uint32_t token, std::vector<TokenSplit>& splits) {
    const std::string_view text = tokens_[token];
    if (text.size() < 2) return;
    find_cuts(text);
    for (const std::size_t cut : cuts_) {
      bytes_ += text.size();
      if (bytes_ > kMaxSplitBytes)
        throw make_error(ErrorCode::resource_exhausted, where_,
                         ": its tokens can be put together in too many ways; is it a vocabulary?");
      const auto left = index_.find(text.substr(0, cut));
      const auto right = index_.find(text.substr(cut));
      if (left != index_.end() && right != index_.end()) splits.push_back({token, left->second, right->second});
    }
  }

  std::span<const std::string_view> tokens_;
  CutAt cut_;
  std::string_view where_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
  std::unordered_set<std::uint64_t> forward_, backward_;
  std::vector<std::size_t> cuts_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::vector<TokenSplit> token_splits(std::span<const std::string_view> tokens, CutAt cut, std::string_view where) {
  return Splitter(tokens, cut, where).all();
}

std::vector<std::pair<std::string, std::string>> merges_of(std::span<const TokenSplit> splits,
                                                           std::span<const std::string_view> tokens) {
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(splits.size());
  for (const TokenSplit& split : splits) merges.emplace_back(tokens[split.left], tokens[split.right]);
  return merges;
}

}  // namespace alate::tokenizers
