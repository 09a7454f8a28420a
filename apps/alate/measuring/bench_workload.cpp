#include "apps/alate/measuring/bench_workload.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "alate/error.h"
#include "apps/alate/texts/line_reader.h"

namespace alate::app {
namespace {

constexpr std::size_t kMostTokens = std::size_t{1} << 28;

std::size_t read_count(std::string_view text, const std::string& place) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value == 0)
    throw make_error(ErrorCode::invalid_argument, place, " is no count of tokens: it is a whole number from 1");
  return value;
}

class Lengths {
 public:
  void add(std::size_t texts, std::size_t tokens) {
    if (texts > kMostTokens || tokens > (kMostTokens - total_) / texts)
      throw make_error(ErrorCode::resource_exhausted, "the benchmark is over ", kMostTokens,
                       " tokens; make it smaller");
    total_ += texts * tokens;
    all_.insert(all_.end(), texts, tokens);
  }
  std::vector<std::size_t> take() {
    if (all_.empty()) throw make_error(ErrorCode::invalid_argument, "--lengths names no counts");
    return std::move(all_);
  }

 private:
  std::size_t total_ = 0;
  std::vector<std::size_t> all_;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

}  // namespace

std::vector<std::size_t> read_lengths(const std::string& list_or_file) {
  Lengths lengths;
  if (list_or_file.find_first_not_of("0123456789,*x ") == std::string::npos) {
    for (std::size_t from = 0; from < list_or_file.size();) {
      const std::size_t to = std::min(list_or_file.find(',', from), list_or_file.size());
      const std::string_view item = trimmed(std::string_view(list_or_file).substr(from, to - from));
      const std::size_t times = item.find_first_of("*x");
      const std::string place = "--lengths: \"" + std::string(item) + "\"";
      if (times == std::string_view::npos) {
        lengths.add(1, read_count(item, place));
      } else {
        lengths.add(read_count(item.substr(0, times), place), read_count(item.substr(times + 1), place));
      }
      from = to + 1;
    }
    return lengths.take();
  }
  LineReader lines(list_or_file);
  while (const auto line = lines.next()) {
    if (const std::string_view text = trimmed(*line); !text.empty()) lengths.add(1, read_count(text, lines.place()));
  }
  return lengths.take();
}

std::vector<std::vector<std::int32_t>> random_rows(const Tokenizer& tokenizer, const std::vector<std::size_t>& lengths,
                                                   std::mt19937_64& random) {
  const std::vector<std::int32_t> special = tokenizer.encode("").ids;
  const std::size_t leading = (special.size() + 1) / 2;
  std::uniform_int_distribution<std::int32_t> any(0, static_cast<std::int32_t>(tokenizer.vocabulary_size()) - 1);
  std::vector<std::vector<std::int32_t>> rows;
  rows.reserve(lengths.size());
  for (const std::size_t length : lengths) {
    std::vector<std::int32_t>& row = rows.emplace_back(length);
    std::ranges::generate(row, [&] { return any(random); });
    if (length < special.size()) continue;
    std::copy_n(special.begin(), leading, row.begin());
    std::copy(special.begin() + static_cast<std::ptrdiff_t>(leading), special.end(),
              row.end() - static_cast<std::ptrdiff_t>(special.size() - leading));
  }
  return rows;
}

}  // namespace alate::app
