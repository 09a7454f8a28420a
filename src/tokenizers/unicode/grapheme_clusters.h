// Extended grapheme clusters: the characters that a reader sees (Unicode Standard Annex 29).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::tokenizers {

/// The end of the cluster that begins at `at`, which is before the end of a valid UTF-8 text. A cluster has at most 128
/// code points, so that a text of nothing but marks is cut too; texts in Stream-Safe Text Format (UAX #15) have at most
/// 30 marks in a row.
std::size_t cluster_end(std::string_view text, std::size_t at);

/// Borders of the clusters of a text. A view of the text, which must live as long.
class GraphemeClusters {
 public:
  /// Of valid UTF-8. Takes linear time. Throws resource_exhausted for a text of 4 GiB and more.
  explicit GraphemeClusters(std::string_view text);

  /// The nearest border at or before the byte, and at or behind it. Places behind the text are its end. They take
  /// logarithmic time.
  std::size_t border_before(std::size_t at) const;
  std::size_t border_after(std::size_t at) const;
  bool is_border(std::size_t at) const { return border_before(at) == at; }

 private:
  using Cluster = std::pair<std::uint32_t, std::uint32_t>;
  // The cluster that has the byte and that is not the first code point of it; null if there is none.
  const Cluster* around(std::size_t at) const;

  std::string_view text_;
  std::vector<Cluster> clusters_;  // those of more than one code point
};

}  // namespace alate::tokenizers
