// The tokens of a model and their ids: a block of text and an open-addressing hash table, built once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tokenizers {

/// Immutable once built.
class Vocabulary {
 public:
  /// Adds a token; an existing token gets the new id, as in the reference's maps. Throws corrupt for a negative id,
  /// resource_exhausted beyond kMaxTokens or kMaxTokenBytes.
  void add(std::string_view token, std::int32_t id);
  /// Builds the table from ids to tokens; call it once, after the last `add`. If several tokens have the same id, it
  /// maps to the last added one.
  void finish();
  /// Calls visit(token, id) for every token, in the order of their first occurrence.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) visit(text_of(entry), entry.id);
  }
  void reserve(std::size_t tokens);

  std::optional<std::int32_t> id_of(std::string_view token) const;
  /// The same in two steps, so that the table's memory can be on its way for several tokens at once.
  std::uint64_t prepare(std::string_view token) const;
  std::optional<std::int32_t> id_of(std::string_view token, std::uint64_t prepared) const;
  std::optional<std::string_view> token_of(std::int32_t id) const;

  std::size_t size() const { return entries_.size(); }
  /// Whether no two tokens have the same id.
  bool has_unique_ids() const { return unique_ids_; }
  /// Length in bytes of the longest token.
  std::size_t longest() const { return longest_; }

  static constexpr std::size_t kMaxTokens = std::size_t{1} << 24;
  static constexpr std::size_t kMaxTokenBytes = std::size_t{1} << 16;

 private:
  struct Entry {
    std::uint32_t begin;
    std::uint32_t length;
    std::int32_t id;
  };
  struct Slot {
    std::uint32_t entry = 0;  // 1-based; 0: free
    std::uint32_t hash = 0;
  };

  std::string_view text_of(const Entry& entry) const {
    return std::string_view(text_).substr(entry.begin, entry.length);
  }
  void grow(std::size_t slots);

  std::string text_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;           // a power of two, at most half full
  std::vector<std::uint32_t> by_id_;  // id to 1-based entry, if the ids are dense; otherwise empty
  std::vector<std::pair<std::int32_t, std::uint32_t>> sorted_ids_;
  std::size_t longest_ = 0;
  bool unique_ids_ = true;
};

}  // namespace alate::tokenizers
