#include "tokenizers/regex/regex_matcher.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/regex/alphabet.h"
#include "tokenizers/regex/parse_regex.h"
#include "tokenizers/regex/pattern_reader.h"
#include "tokenizers/regex/write_pcre.h"

namespace alate::tokenizers {
namespace {

template <auto release>
struct Release {
  template <typename T>
  void operator()(T* object) const {
    release(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Release<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Release<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Release<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Release<pcre2_jit_stack_free>>;

constexpr std::uint32_t kMaxParentheses = 1000;
constexpr std::size_t kFirstStackBytes = std::size_t{32} << 10;
constexpr std::size_t kMaxStackBytes = std::size_t{64} << 20;
constexpr std::uint32_t kMaxHeapKib = std::uint32_t{256} << 10;

// Backtracking from one start: a million steps, and more for a long text, which may be one long match.
constexpr std::uint32_t kMatchSteps = 1'000'000;
constexpr std::uint32_t kMatchStepsPerLetter = 16;

// A call tries many starts with few steps each. Where these do not suffice, each start has calls of its own with more
// and more steps, so that they are counted and the time is looked at often enough.
constexpr std::size_t kStartsPerCall = 1024;
constexpr std::uint32_t kQuickMatchSteps = 2'000;
constexpr std::uint32_t kMoreSteps = 4;          // times those of the call before
constexpr std::uint32_t kMatchStepsPerStep = 4;  // PCRE's are shorter than those of the budget
constexpr std::size_t kCallsBetweenChecks = 8;

template <typename T>
T* made(T* object) {
  if (object == nullptr) throw make_error(ErrorCode::resource_exhausted, "there is no memory for a regular expression");
  return object;
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// What a search needs beside the expression; each thread has its own.
struct SearchScratch {
  MatchContext context{made(pcre2_match_context_create(nullptr))};
  MatchData data{made(pcre2_match_data_create(1, nullptr))};
  JitStack stack{made(pcre2_jit_stack_create(kFirstStackBytes, kMaxStackBytes, nullptr))};
  std::string spelled;

  SearchScratch() {
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    pcre2_set_heap_limit(context.get(), kMaxHeapKib);
  }
};

SearchScratch& search_scratch() {
  thread_local SearchScratch scratch;
  return scratch;
}

class Regex final : public Pattern::Matcher {
 public:
  Regex(const RegexTree& tree, std::string_view pattern, std::string_view where)
      : alphabet_(tree.sets, where), pattern_(shown_pattern(pattern)), where_(where) {
    const std::string translated = write_pcre(tree, alphabet_, where);
    const CompileContext context(made(pcre2_compile_context_create(nullptr)));
    pcre2_set_parens_nest_limit(context.get(), kMaxParentheses);
    constexpr std::uint32_t kOptions = PCRE2_USE_OFFSET_LIMIT | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOTALL;
    int error = 0;
    PCRE2_SIZE at = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), kOptions, &error, &at,
                              context.get()));
    if (code_ == nullptr)
      throw make_error(ErrorCode::unsupported, where, ": the regular expression \"", pattern_,
                       "\" is not supported: ", message_of(error));
    pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // where it cannot be done, the interpreter matches
  }

  void find_all(std::string_view text, std::vector<Span>& matches, WorkBudget& budget) const override {
    if (text.empty()) return;  // as in the reference, whatever the pattern
    SearchScratch& scratch = search_scratch();
    alphabet_.spell(text, scratch.spelled);
    Search search(*this, scratch, budget);
    ByteOffsets bytes(text, scratch.spelled.size());
    std::size_t from = 0;
    std::optional<std::size_t> last_end;
    while (from <= scratch.spelled.size()) {
      const std::optional<std::pair<std::size_t, std::size_t>> found = search.first_from(from);
      if (!found.has_value()) return;
      const auto [begin, end] = *found;
      // An empty match right after another one is none; the search goes on behind the next code point.
      if (begin == end && last_end == end) {
        ++from;
        continue;
      }
      const std::uint32_t first = bytes.at(begin);
      matches.push_back({first, bytes.at(end)});
      last_end = from = end;
    }
  }

 private:
  // Turns numbers of code points into numbers of bytes, in increasing order.
  class ByteOffsets {
   public:
    ByteOffsets(std::string_view text, std::size_t code_points) : text_(text), is_ascii_(text.size() == code_points) {}

    std::uint32_t at(std::size_t code_point) {
      if (is_ascii_) return static_cast<std::uint32_t>(code_point);
      for (; code_point_ < code_point; ++code_point_) byte_ += length_at(byte_);
      return byte_;
    }

   private:
    std::uint32_t length_at(std::uint32_t byte) const {
      const auto first = static_cast<unsigned char>(text_[byte]);
      return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    }

    std::string_view text_;
    bool is_ascii_;
    std::size_t code_point_ = 0;
    std::uint32_t byte_ = 0;
  };

  // One pass over one text, with its limits.
  class Search {
   public:
    Search(const Regex& regex, SearchScratch& scratch, WorkBudget& budget)
        : regex_(regex), scratch_(scratch), budget_(budget), checked_(Clock::now()) {
      const std::size_t more = std::min<std::size_t>(scratch.spelled.size(), 1U << 26) * kMatchStepsPerLetter;
      max_steps_ = kMatchSteps + static_cast<std::uint32_t>(more);
    }
    ~Search() { budget_.spend_search_time(Clock::now() - checked_); }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    using Match = std::optional<std::pair<std::size_t, std::size_t>>;

    Match first_from(std::size_t from) {
      const std::size_t size = scratch_.spelled.size();
      Match match;
      for (std::size_t begin = from; begin <= size; begin += kStartsPerCall) {
        const std::size_t last = std::min(begin + kStartsPerCall - 1, size);
        if (++calls_ % kCallsBetweenChecks == 0) check();
        const int result = try_starts(begin, last, kQuickMatchSteps, match);
        budget_.count_steps(match.has_value() ? match->second - std::min(begin, match->second) + 1 : last - begin + 1);
        if (result == PCRE2_ERROR_MATCHLIMIT) match = try_each_start(begin, last);
        if (match.has_value()) return match;
      }
      return std::nullopt;
    }

   private:
    using Clock = std::chrono::steady_clock;

    Match try_each_start(std::size_t begin, std::size_t last) {
      Match match;
      for (; begin <= last && !match.has_value(); ++begin) {
        check();
        for (std::uint32_t steps = kQuickMatchSteps;; steps = std::min(steps * kMoreSteps, max_steps_)) {
          if (try_starts(begin, begin, steps, match) != PCRE2_ERROR_MATCHLIMIT) break;
          if (steps == max_steps_) regex_.fail(message_of(PCRE2_ERROR_MATCHLIMIT));
          check();
          budget_.count_steps(steps / kMatchStepsPerStep);
        }
      }
      return match;
    }

    // Gives PCRE's answer, if it is not an error other than too many steps.
    int try_starts(std::size_t begin, std::size_t last, std::uint32_t steps, Match& match) {
      const std::string& text = scratch_.spelled;
      pcre2_set_match_limit(scratch_.context.get(), steps);
      pcre2_set_offset_limit(scratch_.context.get(), last);
      const int result = pcre2_match(regex_.code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), begin,
                                     0, scratch_.data.get(), scratch_.context.get());
      if (result >= 0) {
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(scratch_.data.get());
        match.emplace(ends[0], ends[1]);
      } else if (result != PCRE2_ERROR_NOMATCH && result != PCRE2_ERROR_MATCHLIMIT) {
        regex_.fail(message_of(result));
      }
      return result;
    }

    void check() {
      budget_.check();
      const Clock::time_point now = Clock::now();
      if (!budget_.spend_search_time(now - checked_)) regex_.fail("it takes too long");
      checked_ = now;
    }

    const Regex& regex_;
    SearchScratch& scratch_;
    WorkBudget& budget_;
    Clock::time_point checked_;
    std::uint32_t max_steps_;
    std::size_t calls_ = 0;
  };

  [[noreturn]] void fail(std::string_view problem) const {
    throw make_error(ErrorCode::resource_exhausted, where_, ": matching the regular expression \"", pattern_,
                     "\" was stopped: ", problem);
  }

  Alphabet alphabet_;
  std::string pattern_;
  std::string where_;
  Code code_;
};

}  // namespace

std::unique_ptr<const Pattern::Matcher> compile_regex(std::string_view pattern, std::string_view where) {
  return std::make_unique<Regex>(parse_regex(pattern, where), pattern, where);
}

}  // namespace alate::tokenizers
