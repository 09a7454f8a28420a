// What of a question stands in a passage.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate::search {

/// The words of a question, to be found in passages: letters, digits and marks in a row, of three characters or more,
/// without regard to case and to whether letters are composed; ideographs and kana by themselves.
class QuestionWords {
 public:
  explicit QuestionWords(std::string_view question);

  /// Leaves out the words that stand in more than a third of these passages: they tell none from the others. Few
  /// passages tell nothing of words.
  void drop_common(std::span<const std::string_view> passages);

  /// Where they stand in a text, in code points.
  std::vector<std::pair<std::size_t, std::size_t>> in(std::string_view text) const;

 private:
  std::set<std::string, std::less<>> words_;
};

}  // namespace alate::search
