#include "tokenizers/sources/gguf_pre_tokenizers.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/known_patterns.h"

namespace alate::tokenizers {
namespace {

// Patterns that are applied one after the other, each to what the ones before left; GPT-2's own splitting then comes
// with the mapping to bytes.
struct Splitting {
  std::vector<std::string_view> patterns;
  bool gpt2_last = false;  // the byte-level pre-tokenizer splits by GPT-2's pattern
  bool nfc = false;
};

constexpr std::string_view kOneDigit = R"(\p{N})";

// Letters of scripts with case, of DeepSeek's first tokenizer.
constexpr std::string_view kDeepSeekLetters =
    "\\s?["
    "A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u0373"
    "\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F"
    "\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77"
    "\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-"
    "\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC"
    "\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-"
    "\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3"
    "\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17"
    "\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-"
    "\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943"
    "]+";
constexpr std::string_view kDeepSeekCjk = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+";
constexpr std::string_view kHanAndKana = "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+";
constexpr std::string_view kDeepSeekV3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSpark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
// Chinese, Japanese, Thai, Lao, Khmer, Myanmar and Korean.
constexpr std::string_view kAsianScripts =
    "[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u3040-\u309F\u30A0-\u30FF\uFF65-\uFF9F\u2F00-\u2FDF\u0E40-\u0E7F\u0E80-"
    "\u0EFF\u1780-\u17FF\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF\uAC00-\uD7AF\u1100-\u11FF]+";
constexpr std::string_view kBloom = " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";

Splitting split_llama3() { return {{patterns::kCl100k}}; }
Splitting split_qwen2() { return {{patterns::kQwen2}}; }
Splitting split_qwen2_nfc() { return {{patterns::kQwen2}, false, true}; }
Splitting split_qwen35_nfc() { return {{patterns::kQwen35}, false, true}; }
Splitting split_gpt2() { return {{}, true}; }
Splitting split_digits_gpt2() { return {{kOneDigit}, true}; }
Splitting split_command_r() { return {{kOneDigit}, true, true}; }
Splitting split_gpt4o() { return {{patterns::kO200k}}; }
Splitting split_tekken() { return {{patterns::kTekken}}; }
Splitting split_deepseek_v3() { return {{R"(\p{N}{1,3})", kHanAndKana, kDeepSeekV3}}; }
Splitting split_spark() { return {{R"(\p{N}{1,3})", kHanAndKana, kSpark, kOneDigit}}; }
// Digits in threes from the right.
Splitting split_afmoe() { return {{R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))", kAsianScripts, kDeepSeekV3}}; }
Splitting split_kimi() {
  return {
      {R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
}
Splitting split_deepseek_llm() {
  return {{"[\r\n]", kDeepSeekLetters, "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+", "\\s+$",
           kDeepSeekCjk, R"(\p{N}+)"}};
}
Splitting split_deepseek_coder() { return {{"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepSeekCjk, kOneDigit}}; }
Splitting split_falcon() { return {{R"([\p{P}\$\+<=>\^~\|`]+)", patterns::kGpt2, "[0-9][0-9][0-9]"}}; }
Splitting split_by_default() { return {{R"([\p{P}\$\+<=>\^~\|]+)", patterns::kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}}; }
Splitting split_bloom() { return {{kBloom}}; }
Splitting split_viking() { return {{kBloom, kOneDigit}}; }
Splitting split_tiny_aya() { return {{R"(\d{1,3}(?=(?:\d{3})*\b))", patterns::kO200k}, false, true}; }
Splitting split_superbpe() { return {{R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}}; }
Splitting split_bailing() {
  return {
      {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"}};
}
Splitting split_seed_coder() {
  return {
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
}
Splitting split_exaone_moe() {
  return {
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"}};
}
Splitting split_jais2() {
  return {
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"}};
}
Splitting split_youtu() {
  return {
      {"[\uAC00-\uD7A3\u3131-\u318E]+|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-"
       "\uFE4F]+|[\u3105-\u312F]+|[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
       R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
}
Splitting split_minicpm5() {
  return {
      {R"(\p{N}{1,3})",
       R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
}
Splitting split_laguna() { return {{"[^\\n]+|[\\n]+", patterns::kQwen2}}; }
Splitting split_ufakzeka() {
  return {{R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
}
Splitting split_chameleon() {
  return {{"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", kOneDigit,
           R"([\p{P}!-/:-@\[-`{-~])"},
          true};
}

constexpr unsigned kIgnoreMerges = 1, kAddBos = 2, kAddSep = 4;

struct NamedSplitting {
  std::string_view name;
  Splitting (*splitting)();
  unsigned flags = 0;
};

// The names of https://github.com/ggml-org/llama.cpp, src/llama-vocab.cpp.
constexpr std::array kNamedSplittings = std::to_array<NamedSplitting>({
    {"default", split_by_default},
    {"llama3", split_llama3, kIgnoreMerges | kAddBos},
    {"llama-v3", split_llama3, kIgnoreMerges | kAddBos},
    {"llama-bpe", split_llama3, kIgnoreMerges | kAddBos},
    {"falcon3", split_llama3, kIgnoreMerges | kAddBos},
    {"falcon-h1", split_llama3, kIgnoreMerges | kAddBos},
    {"pixtral", split_llama3, kIgnoreMerges | kAddBos},
    {"midm-2.0", split_llama3, kIgnoreMerges | kAddBos},
    {"lfm2", split_llama3, kIgnoreMerges | kAddBos},
    {"jina-v5-nano", split_llama3, kIgnoreMerges | kAddBos},
    {"dbrx", split_llama3},
    {"smaug-bpe", split_llama3},
    {"glm4", split_llama3},
    {"chatglm-bpe", split_llama3},
    {"jais-2", split_jais2},
    {"deepseek-llm", split_deepseek_llm},
    {"deepseek-coder", split_deepseek_coder},
    {"deepseek-v3", split_deepseek_v3},
    {"hunyuan-dense", split_deepseek_v3},
    {"joyai-llm", split_deepseek_v3},
    {"hy_v4", split_deepseek_v3},
    {"spark2_5", split_spark},
    {"afmoe", split_afmoe},
    {"kimi-k2", split_kimi},
    {"youtu", split_youtu, kIgnoreMerges},
    {"falcon", split_falcon},
    {"mpt", split_gpt2},
    {"gpt-2", split_gpt2},
    {"phi-2", split_gpt2},
    {"jina-es", split_gpt2},
    {"jina-de", split_gpt2},
    {"jina-v2-es", split_gpt2},
    {"jina-v2-de", split_gpt2},
    {"gigachat", split_gpt2},
    {"a.x-4.0", split_gpt2},
    {"mellum", split_gpt2},
    {"modern-bert", split_gpt2},
    {"olmo", split_gpt2},
    {"jais", split_gpt2},
    {"trillion", split_gpt2},
    {"granite-docling", split_gpt2},
    {"exaone4", split_gpt2},
    {"jina-v1-en", split_gpt2, kAddSep},
    {"jina-v2-code", split_gpt2, kAddSep},
    {"roberta-bpe", split_gpt2, kAddSep},
    {"starcoder", split_digits_gpt2},
    {"refact", split_digits_gpt2},
    {"command-r", split_command_r},
    {"smollm", split_digits_gpt2},
    {"codeshell", split_digits_gpt2},
    {"exaone", split_digits_gpt2},
    {"minerva-7b", split_digits_gpt2},
    {"mellum2", split_digits_gpt2},
    {"qwen2", split_qwen2_nfc},
    {"qwen35", split_qwen35_nfc},
    {"deepseek-r1-qwen", split_qwen2},
    {"kormo", split_qwen2},
    {"f2llmv2", split_qwen2},
    {"megrez", split_qwen2},
    {"stablelm2", split_qwen2},
    {"hunyuan", split_qwen2},
    {"solar-open", split_qwen2},
    {"grok-2", split_qwen2},
    {"poro-chat", split_bloom},
    {"bloom", split_bloom},
    {"gpt3-finnish", split_bloom},
    {"viking", split_viking},
    {"tekken", split_tekken, kIgnoreMerges | kAddBos},
    {"chameleon", split_chameleon, kAddBos},
    {"gpt-4o", split_gpt4o},
    {"llama4", split_gpt4o},
    {"kanana2", split_gpt4o},
    {"talkie", split_gpt4o},
    {"minimax-m2", split_gpt4o},
    {"granite-embed-multi-97m", split_gpt4o, kIgnoreMerges},
    {"tiny_aya", split_tiny_aya},
    {"cohere2moe", split_tiny_aya},
    {"superbpe", split_superbpe},
    {"bailingmoe", split_bailing},
    {"bailingmoe2", split_bailing},
    {"llada-moe", split_bailing},
    {"seed-coder", split_seed_coder},
    {"exaone-moe", split_exaone_moe},
    {"minicpm5", split_minicpm5, kIgnoreMerges},
    {"laguna", split_laguna},
    {"ufakzeka", split_ufakzeka},
});

}  // namespace

std::vector<std::string_view> gguf_pre_tokenizer_names() {
  std::vector<std::string_view> names;
  for (const NamedSplitting& named : kNamedSplittings) names.push_back(named.name);
  return names;
}

GgufPreTokenizer gguf_pre_tokenizer(std::string_view name) {
  const auto* named = std::ranges::find(kNamedSplittings, name.empty() ? "default" : name, &NamedSplitting::name);
  if (named == kNamedSplittings.end())
    throw make_error(ErrorCode::unsupported,
                     "its tokenizer.ggml.pre is not known to this version; use the model's tokenizer.json: ",
                     formats::quoted_name(name));
  const Splitting splitting = named->splitting();
  std::vector<PreTokenizerPtr> parts;
  for (const std::string_view pattern : splitting.patterns) {
    if (pattern == kOneDigit) {
      parts.push_back(digits(true));
      continue;
    }
    parts.push_back(split({std::string(pattern), true}, Delimiters::isolated, false, "tokenizer.ggml.pre"));
  }
  parts.push_back(byte_level_pre_tokenizer({.add_prefix_space = false, .use_regex = splitting.gpt2_last}));
  return {.normalizer = splitting.nfc ? unicode_normalizer(NormalForm::nfc) : nullptr,
          .pre_tokenizer = pre_tokenizer_sequence(std::move(parts)),
          .ignore_merges = (named->flags & kIgnoreMerges) != 0,
          .add_bos = (named->flags & kAddBos) != 0,
          .add_sep = (named->flags & kAddSep) != 0};
}

}  // namespace alate::tokenizers
