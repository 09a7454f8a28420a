// The texts of a long input in parts, and the warning of texts that were cut.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/text_source.h"

namespace alate::app {

/// How a verb reads its texts.
struct PartReading {
  std::string_view verb;  // takes single texts: it is named in the error for a pair
  bool ends_early = false;
  OnError on_error = OnError::stop;
};

struct TextPart {
  std::vector<std::string> texts;
  std::vector<std::string> members;  // of JSON lines, as InputText::members
  std::vector<RefusedLine> refused;  // lines between them that were skipped
  std::exception_ptr failure;        // of the line behind them

  bool is_empty() const { return texts.empty() && refused.empty(); }
};

/// Finds what is wrong with an input that can be read twice before hours of work go into the texts before that line.
/// Returns how many texts there are; nothing for an input that can be read only once.
std::optional<std::size_t> check_single_texts(TextSource& source, const PartReading& reading);

/// The next texts, of a number and size that fill batches well and take little memory; none at the end.
/// `ends_early`: a part ends where the input pauses, so that results of what is there leave the program, and before a
/// line that is refused, whose error it then has. Soon after `stop` is requested it returns what it has, unless the
/// texts are typed. Throws as TextSource::next, and invalid_argument for a pair.
TextPart next_part(TextSource& source, const PartReading& reading, const std::stop_token& stop = {});

/// The number of texts that were cut, and the indices of the first of them.
class CutTexts {
 public:
  CutTexts() = default;
  /// As they were when `count` and `shown` were asked for.
  CutTexts(std::size_t count, std::string shown) : count_(count), shown_(std::move(shown)) {}

  std::size_t count() const { return count_; }
  const std::string& shown() const { return shown_; }
  /// `indices` are those of a part whose first text is `first`.
  void add(std::span<const std::size_t> indices, std::size_t first);
  /// Warns of them if there are any; `texts` is the number of all texts.
  void warn(std::size_t texts, std::size_t max_length) const;

 private:
  std::size_t count_ = 0;
  std::string shown_;
};

}  // namespace alate::app
