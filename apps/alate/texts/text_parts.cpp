#include "apps/alate/texts/text_parts.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "base/log.h"

namespace alate::app {
namespace {

// Maximum number of texts and bytes per part: sorting within a part suffices to fill batches well, and the memory of a
// part stays small.
constexpr std::size_t kPartTexts = 4096;
constexpr std::size_t kPartBytes = std::size_t{4} << 20;

constexpr std::size_t kIndicesShown = 10;

// A reader of standard output gets what is there once the input pauses. After so many bytes it has to pause for a
// while: programs that write as fast as they can leave short gaps, and large parts are fast.
constexpr std::size_t kPatientBytes = 4096;
constexpr auto kPatience = std::chrono::milliseconds(10);

constexpr auto kStopPatience = std::chrono::milliseconds(100);

std::optional<InputText> next_text(TextSource& source, std::string_view verb) {
  auto input = source.next();
  if (input && input->pair)
    throw RefusedText(
        make_error(ErrorCode::invalid_argument, source.place(), " has a pair; ", verb, " takes single texts"));
  return input;
}

// Reading cannot be interrupted, so that it begins only when it need not wait.
bool is_stopped_before_text(TextSource& source, const std::stop_token& stop) {
  if (!stop.stop_possible() || source.is_typed()) return false;
  while (!stop.stop_requested() && source.may_wait(kStopPatience)) continue;
  return stop.stop_requested();
}

}  // namespace

std::optional<std::size_t> check_single_texts(TextSource& source, const PartReading& reading) {
  if (!source.can_rewind()) return std::nullopt;
  std::size_t count = 0;
  for (;;) {
    try {
      if (!next_text(source, reading.verb)) break;
      ++count;
    } catch (const RefusedText&) {
      if (reading.on_error == OnError::stop) throw;
    }
  }
  source.rewind();
  return count;
}

TextPart next_part(TextSource& source, const PartReading& reading, const std::stop_token& stop) {
  TextPart part;
  std::size_t bytes = 0;
  while (part.texts.size() + part.refused.size() < kPartTexts && bytes < kPartBytes) {
    const auto patience = bytes < kPatientBytes ? std::chrono::milliseconds(0) : kPatience;
    if (reading.ends_early && !part.is_empty() && source.may_wait(patience)) break;
    if (is_stopped_before_text(source, stop)) break;
    std::optional<InputText> input;
    try {
      input = next_text(source, reading.verb);
    } catch (const RefusedText& error) {
      if (reading.on_error == OnError::skip) {
        part.refused.push_back(refused_line(source, error, part.texts.size()));
        continue;
      }
      if (!reading.ends_early || part.is_empty()) throw;
      part.failure = std::current_exception();
    } catch (const Error&) {
      if (!reading.ends_early || part.is_empty()) throw;
      part.failure = std::current_exception();
    }
    if (!input) break;
    bytes += input->text.size() + input->members.size();
    part.texts.push_back(std::move(input->text));
    part.members.push_back(std::move(input->members));
  }
  return part;
}

void CutTexts::add(std::span<const std::size_t> indices, std::size_t first) {
  for (const std::size_t index : indices) {
    if (count_ < kIndicesShown) shown_ += (count_ > 0 ? " " : "") + std::to_string(first + index);
    if (count_ == kIndicesShown) shown_ += " ...";
    ++count_;
  }
}

void CutTexts::warn(std::size_t texts, std::size_t max_length) const {
  if (count_ == 0) return;
  base::log(base::LogLevel::warn, "texts were cut",
            {{"count", std::to_string(count_)},
             {"of", std::to_string(texts)},
             {"max_length", std::to_string(max_length)},
             {"indices", shown_}});
}

}  // namespace alate::app
