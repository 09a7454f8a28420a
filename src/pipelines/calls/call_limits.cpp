#include "pipelines/calls/call_limits.h"

#include "alate/error.h"

namespace alate::pipelines {

void require_short_list(std::size_t entries, std::string_view what) {
  if (entries > kMostListed)
    throw make_error(ErrorCode::invalid_argument, what, " has ", entries, " entries; give at most ", kMostListed);
}

void require_readable(const CallLimits& limits, double bytes, std::string_view each) {
  if (bytes <= static_cast<double>(limits.read_bytes)) return;
  constexpr double kMegabyte = 1 << 20;
  throw make_error(ErrorCode::resource_exhausted, "the texts, each read with ", each, ", have ",
                   static_cast<std::size_t>(bytes / kMegabyte), " MiB to be read; one call reads at most ",
                   limits.read_bytes, " bytes: send fewer or shorter texts, or shorten ", each);
}

std::size_t window_count(std::size_t tokens, std::size_t room, std::size_t stride) {
  const std::size_t step = room - stride;
  return tokens <= room ? 1 : 1 + (tokens - room + step - 1) / step;
}

void TokenBudget::take(std::size_t tokens) {
  if (tokens <= most_ && taken_.fetch_add(tokens) <= most_ - tokens) return;
  throw make_error(
      ErrorCode::resource_exhausted, "the texts, with the tokens that their windows share, have more than ", most_,
      " tokens, the most that one call computes: send fewer or shorter texts, or take a smaller ", "stride");
}

void AnswerBudget::add(std::size_t text_bytes) {
  const std::size_t bytes = text_bytes + kItemBytes;
  if (bytes > most_ - taken_)
    throw make_error(ErrorCode::resource_exhausted, "the answer would have more than ", most_,
                     " bytes, the most of one call: ask for fewer or shorter parts of the texts (top_k, labels, a ",
                     "higher threshold), or send fewer or shorter texts");
  taken_ += bytes;
}

}  // namespace alate::pipelines
