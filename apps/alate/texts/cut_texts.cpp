#include "apps/alate/texts/cut_texts.h"

#include "base/log.h"

namespace alate::app {
namespace {

constexpr std::size_t kIndicesShown = 10;

}  // namespace

void CutTexts::add(std::span<const std::size_t> indices, std::size_t first) {
  for (const std::size_t index : indices) {
    if (count_ < kIndicesShown) shown_ += (count_ > 0 ? " " : "") + std::to_string(first + index);
    if (count_ == kIndicesShown) shown_ += " ...";
    ++count_;
  }
}

std::string CutTexts::sentence(std::size_t texts, std::size_t max_length) const {
  const std::string length = std::to_string(max_length);
  if (texts == 1) return "the text was cut to " + length + " tokens; its rest was not read";
  return std::to_string(count_) + " of " + std::to_string(texts) +
         (count_ == 1 ? " texts was cut to " : " texts were cut to ") + length +
         " tokens; their rest was not read (texts " + shown_ + ", counted from 0)";
}

void CutTexts::warn(std::size_t texts, std::size_t max_length) const {
  if (count_ == 0) return;
  base::log(base::LogLevel::warn, "texts were cut",
            {{"count", std::to_string(count_)},
             {"of", std::to_string(texts)},
             {"max_length", std::to_string(max_length)},
             {"indices", shown_}},
            sentence(texts, max_length));
}

}  // namespace alate::app
