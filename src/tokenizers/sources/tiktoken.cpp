#include "tokenizers/sources/tiktoken.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/base64.h"
#include "tokenizers/byte_alphabet.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/known_patterns.h"
#include "tokenizers/sources/recovered_merges.h"

namespace alate::tokenizers {
namespace {

struct NumberedName {
  std::int32_t id;
  std::string name;
};

// Tokens that are numbered from `first` on.
void add_numbered(std::vector<NumberedName>& names, std::string_view prefix, std::size_t count, std::int32_t first,
                  std::size_t from = 0) {
  for (std::size_t i = 0; i < count; ++i)
    names.push_back({first + static_cast<std::int32_t>(i), std::string(prefix) + std::to_string(from + i) + "|>"});
}

struct RankEncoding {
  std::string_view name;
  std::string_view pattern;
  std::vector<NumberedName> (*specials)();
  bool nfc = false;
};

std::vector<NumberedName> gpt2_specials() { return {{50256, "<|endoftext|>"}}; }

std::vector<NumberedName> p50k_edit_specials() {
  return {{50256, "<|endoftext|>"}, {50281, "<|fim_prefix|>"}, {50282, "<|fim_middle|>"}, {50283, "<|fim_suffix|>"}};
}

std::vector<NumberedName> cl100k_specials() {
  return {{100257, "<|endoftext|>"},
          {100258, "<|fim_prefix|>"},
          {100259, "<|fim_middle|>"},
          {100260, "<|fim_suffix|>"},
          {100276, "<|endofprompt|>"}};
}

std::vector<NumberedName> o200k_specials() { return {{199999, "<|endoftext|>"}, {200018, "<|endofprompt|>"}}; }

std::vector<NumberedName> harmony_specials() {
  std::vector<NumberedName> names = {{199998, "<|startoftext|>"}, {199999, "<|endoftext|>"}};
  add_numbered(names, "<|reserved_", 1088, 200000, 200000);
  const auto rename = [&](std::int32_t id, std::string_view name) {
    names[static_cast<std::size_t>(id - 199998)].name = name;
  };
  rename(200002, "<|return|>");
  rename(200003, "<|constrain|>");
  rename(200005, "<|channel|>");
  rename(200006, "<|start|>");
  rename(200007, "<|end|>");
  rename(200008, "<|message|>");
  rename(200012, "<|call|>");
  return names;
}

std::vector<NumberedName> qwen_specials() {
  std::vector<NumberedName> names = {{151643, "<|endoftext|>"}, {151644, "<|im_start|>"}, {151645, "<|im_end|>"}};
  add_numbered(names, "<|extra_", 205, 151646);
  return names;
}

// The names of version 3.1; in version 3 some of them were reserved ones.
std::vector<NumberedName> llama3_specials() {
  std::vector<NumberedName> names = {{128000, "<|begin_of_text|>"},
                                     {128001, "<|end_of_text|>"},
                                     {128002, "<|reserved_special_token_0|>"},
                                     {128003, "<|reserved_special_token_1|>"},
                                     {128004, "<|finetune_right_pad_id|>"},
                                     {128005, "<|reserved_special_token_2|>"},
                                     {128006, "<|start_header_id|>"},
                                     {128007, "<|end_header_id|>"},
                                     {128008, "<|eom_id|>"},
                                     {128009, "<|eot_id|>"},
                                     {128010, "<|python_tag|>"}};
  add_numbered(names, "<|reserved_special_token_", 245, 128011, 3);
  return names;
}

std::vector<NumberedName> no_specials() { return {}; }

constexpr std::array kRankEncodings = std::to_array<RankEncoding>({
    {"cl100k_base", patterns::kCl100k, cl100k_specials},
    {"o200k_base", patterns::kO200k, o200k_specials},
    {"o200k_harmony", patterns::kO200k, harmony_specials},
    {"p50k_base", patterns::kGpt2, gpt2_specials},
    {"p50k_edit", patterns::kGpt2, p50k_edit_specials},
    {"r50k_base", patterns::kGpt2, gpt2_specials},
    {"gpt2", patterns::kGpt2, gpt2_specials},
    {"qwen", patterns::kQwen2, qwen_specials, true},
});
// What transformers assumes of a file of ranks. Llama 3's special tokens fit only its own ranks.
constexpr RankEncoding kOtherRanks = {"", patterns::kCl100k, no_specials};
constexpr std::size_t kLlama3Ranks = 128000;

struct RankLine {
  std::string token;
  std::int32_t rank = 0;
};

// False if the line is none of a file of ranks.
bool parse_line(std::string_view text, RankLine& line) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || !formats::decode_base64(text.substr(0, space), line.token)) return false;
  const std::string_view rank = text.substr(space + 1);
  const auto [end, error] = std::from_chars(rank.data(), rank.data() + rank.size(), line.rank);
  return error == std::errc() && end == rank.data() + rank.size() && line.rank >= 0;
}

// The next line, without its end; empty lines are passed over.
std::string_view next_line(std::string_view text, std::size_t& at, std::size_t& number) {
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) return line;
  }
  return {};
}

struct Ranks {
  std::vector<std::string> tokens;  // bytes, in the order of their ranks
  std::vector<std::int32_t> ranks;
};

Ranks parse_ranks(std::string_view text, std::string_view what) {
  std::vector<RankLine> lines;
  lines.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  std::size_t at = 0, number = 0;
  for (std::string_view line = next_line(text, at, number); !line.empty(); line = next_line(text, at, number)) {
    lines.emplace_back();
    if (lines.size() > Vocabulary::kMaxTokens || !parse_line(line, lines.back()))
      throw make_error(ErrorCode::corrupt, what, ", line ", number, ": it must be a token in base64 and its rank");
  }
  std::ranges::stable_sort(lines, {}, &RankLine::rank);
  Ranks ranks;
  for (RankLine& line : lines) {
    if (!ranks.ranks.empty() && ranks.ranks.back() == line.rank)
      throw make_error(ErrorCode::corrupt, what, ": two tokens have the rank ", line.rank);
    ranks.ranks.push_back(line.rank);
    ranks.tokens.push_back(std::move(line.token));
  }
  if (ranks.tokens.empty()) throw make_error(ErrorCode::corrupt, what, " has no tokens");
  return ranks;
}

// The lower pair of ranks merges first where one token can be put together in several ways.
std::vector<TokenSplit> ranked_splits(const std::vector<std::string_view>& tokens, std::string_view what) {
  std::vector<TokenSplit> splits = token_splits(tokens, CutAt::bytes, what);
  std::ranges::sort(splits, {}, [](const TokenSplit& split) {
    return std::array{split.token, split.left, split.right};
  });
  return splits;
}

std::vector<std::string> in_byte_characters(const std::vector<std::string>& tokens) {
  std::vector<std::string> texts(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) append_byte_characters(texts[i], tokens[i]);
  return texts;
}

ModelPtr model_of_ranks(const Ranks& ranks, std::span<const NumberedName> specials, std::string_view what) {
  const std::vector<std::string> texts = in_byte_characters(ranks.tokens);
  const std::vector<std::string_view> bytes(ranks.tokens.begin(), ranks.tokens.end());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  Vocabulary vocabulary;
  vocabulary.reserve(texts.size() + specials.size());
  for (std::size_t i = 0; i < texts.size(); ++i) vocabulary.add(texts[i], ranks.ranks[i]);
  for (const NumberedName& special : specials) vocabulary.add(special.name, special.id);
  vocabulary.finish();
  return bpe(std::move(vocabulary), merges_of(ranked_splits(bytes, what), views), {.ignore_merges = true}, what);
}

}  // namespace

bool is_tiktoken(std::string_view text) {
  std::size_t at = 0, number = 0;
  RankLine line;
  const std::string_view first = next_line(text.substr(0, 4096), at, number);
  return !first.empty() && parse_line(first, line);
}

std::shared_ptr<Tokenizer::Parts> read_tiktoken(std::string_view text, std::string_view name,
                                                const TokenizerConfig& config, std::string_view what) {
  const Ranks ranks = parse_ranks(text, what);
  const auto* known = std::ranges::find(kRankEncodings, name, &RankEncoding::name);
  const RankEncoding& encoding = known == kRankEncodings.end() ? kOtherRanks : *known;
  std::vector<NumberedName> specials = encoding.specials();
  if (known == kRankEncodings.end() && ranks.ranks.size() == kLlama3Ranks && ranks.ranks.back() + 1 == 128000)
    specials = llama3_specials();

  // The config's tokens have ids of their own, which stay as they are.
  std::vector<AddedToken> added;
  const auto named = config.named_tokens({});
  if (!config.numbered_tokens().empty()) {
    specials.clear();
    for (const auto& [id, token] : config.numbered_tokens()) {
      if (!token.token.content.empty()) specials.push_back({id, token.token.content});
    }
  } else {
    for (const NumberedName& special : specials) added.push_back(StatedToken::special(special.name).finished());
  }
  for (const NumberedName& special : specials) {
    if (std::ranges::binary_search(ranks.ranks, special.id) && config.numbered_tokens().empty())
      throw make_error(ErrorCode::corrupt, what, ": the rank ", special.id, " belongs to a special token of ", name,
                       "; is the file named after what it holds?");
  }
  std::erase_if(specials,
                [&](const NumberedName& special) { return std::ranges::binary_search(ranks.ranks, special.id); });
  std::ranges::move(config.added_tokens(named, config.further_tokens().value_or(std::vector<StatedToken>())),
                    std::back_inserter(added));

  std::vector<PreTokenizerPtr> parts;
  parts.push_back(split({std::string(encoding.pattern), true}, Delimiters::isolated, false, what));
  parts.push_back(byte_level_pre_tokenizer({.add_prefix_space = false, .use_regex = false}));
  Assembly assembly(encoding.nfc ? unicode_normalizer(NormalForm::nfc) : nullptr,
                    pre_tokenizer_sequence(std::move(parts)), model_of_ranks(ranks, specials, what), std::move(added),
                    byte_level_decoder(), what);
  PostProcessorPtr marks = stated_marks(assembly, config, named, what);
  return std::move(assembly).finish(std::move(marks));
}

}  // namespace alate::tokenizers
