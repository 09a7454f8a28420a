// Search for a text in time that grows with the sum of the lengths, whatever the texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace alate::tokenizers::chat_templates {

class TextSearch {
 public:
  /// `wanted` must outlive it.
  explicit TextSearch(std::string_view wanted);

  /// How many characters are looked at to prepare a search and to make it, in about.
  static std::size_t characters(std::string_view wanted, std::string_view text) {
    return 2 * wanted.size() + text.size();
  }

  /// The first place at or after `from`; npos if there is none.
  std::size_t find(std::string_view text, std::size_t from = 0) const;
  std::size_t find_last(std::string_view text) const;

 private:
  std::string_view wanted_;
  std::vector<std::uint32_t> borders_, reversed_borders_;  // Knuth, Morris and Pratt's; empty for short texts
};

}  // namespace alate::tokenizers::chat_templates
