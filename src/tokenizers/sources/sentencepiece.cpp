#include "tokenizers/sources/sentencepiece.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "alate/error.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/recovered_merges.h"
#include "tokenizers/sources/sentencepiece_parts.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

using PieceType = SentencePieceModel::PieceType;

struct SpmFamily {
  std::string_view class_name;
  Converted (*convert)(const SentencePieceModel&, const TokenizerConfig&, std::string_view);
};
constexpr std::array kSpmFamilies = std::to_array<SpmFamily>({
    {"LlamaTokenizer", convert_llama},
    {"GemmaTokenizer", convert_gemma},
    {"T5Tokenizer", convert_t5},
    {"AlbertTokenizer", convert_albert},
    {"XLMRobertaTokenizer", convert_xlm_roberta},
    {"MBartTokenizer", convert_mbart},
    {"MBart50Tokenizer", convert_mbart50},
    {"DebertaV2Tokenizer", convert_deberta_v2},
    {"CamembertTokenizer", convert_camembert},
    {"NllbTokenizer", convert_nllb},
    {"PegasusTokenizer", convert_pegasus},
});

// Classes of transformers whose conversion differs from all of these; the latter have no conversion there either.
constexpr std::array<std::string_view, 12> kOtherSpmClasses = {
    "BarthezTokenizer",     "BigBirdTokenizer",   "CodeLlamaTokenizer", "CpmTokenizer",
    "FNetTokenizer",        "LayoutXLMTokenizer", "ReformerTokenizer",  "RemBertTokenizer",
    "SeamlessM4TTokenizer", "UdopTokenizer",      "XGLMTokenizer",      "XLNetTokenizer"};
constexpr std::array<std::string_view, 11> kSlowSpmClasses = {
    "BartphoTokenizer",  "BertGenerationTokenizer", "ErnieMTokenizer",       "GPTSw3Tokenizer",
    "M2M100Tokenizer",   "MLukeTokenizer",          "PLBartTokenizer",       "Speech2TextTokenizer",
    "SpeechT5Tokenizer", "SiglipTokenizer",         "XLMProphetNetTokenizer"};

const SpmFamily* find_spm_family(std::string_view class_name) {
  const auto* found = std::ranges::find(kSpmFamilies, class_name, &SpmFamily::class_name);
  return found == kSpmFamilies.end() ? nullptr : found;
}

std::string escaped_for_regex(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// Of pieces that the config renames (placeholders), the new names.
std::vector<std::string> names_of_pieces(const SentencePieceModel& model, const TokenizerConfig& config) {
  std::vector<std::string> names;
  names.reserve(model.pieces.size());
  for (const SentencePieceModel::Piece& piece : model.pieces) names.emplace_back(piece.text);
  if (model.type == SentencePieceModel::Type::unigram || config.numbered_tokens().empty()) return names;
  std::unordered_map<std::string_view, std::size_t> kept;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    if (!config.numbered_tokens().contains(static_cast<std::int32_t>(i))) kept.emplace(model.pieces[i].text, i);
  }
  for (const auto& [id, token] : config.numbered_tokens()) {
    const std::string& name = token.token.content;
    const auto at = static_cast<std::size_t>(id);
    if (at < names.size() && !name.empty() && !kept.contains(name)) names[at] = name;
  }
  return names;
}

// SentencePiece merges the pair whose piece has the best score, and only normal pieces.
std::vector<std::pair<std::string, std::string>> merges_by_piece_score(const SentencePieceModel& model,
                                                                       const std::vector<std::string>& names,
                                                                       std::string_view what) {
  std::vector<std::string_view> texts(names.begin(), names.end());
  std::vector<TokenSplit> splits = token_splits(texts, CutAt::code_points, what);
  const auto is_normal = [&](std::uint32_t i) { return model.pieces[i].type == PieceType::normal; };
  std::erase_if(splits, [&](const TokenSplit& split) {
    return !is_normal(split.token) || !is_normal(split.left) || !is_normal(split.right);
  });
  std::ranges::sort(splits, [&](const TokenSplit& a, const TokenSplit& b) {
    const float first = model.pieces[a.token].score, second = model.pieces[b.token].score;
    if (first != second) return first > second;
    if (a.token != b.token) return a.token < b.token;
    return std::pair(texts[a.left], texts[a.right]) < std::pair(texts[b.left], texts[b.right]);
  });
  return merges_of(splits, texts);
}

ModelPtr plain_model(const SentencePieceModel& model, const std::vector<std::string>& names, bool has_whole_pieces,
                     std::string_view what) {
  if (model.type == SentencePieceModel::Type::unigram) {
    const auto unk = model.unk_id < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(model.unk_id));
    return unigram(pieces_from(model, 0), unk, model.byte_fallback, what);
  }
  Vocabulary vocabulary;
  vocabulary.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) vocabulary.add(names[i], static_cast<std::int32_t>(i));
  vocabulary.finish();
  return bpe(std::move(vocabulary), merges_by_piece_score(model, names, what),
             {.unk_token = std::string(model.unk_piece),
              .fuse_unk = true,
              .byte_fallback = model.byte_fallback,
              .ignore_merges = has_whole_pieces},
             what);
}

}  // namespace

PlainPipeline plain_pipeline(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  if (model.type == SentencePieceModel::Type::word)
    throw make_error(ErrorCode::unsupported, what,
                     " is a model of SentencePiece of whole words, which need a tokenizer of their own: word model");
  if (model.whitespace_as_suffix)
    throw make_error(ErrorCode::unsupported, what,
                     " has spaces at the ends of words: SentencePiece's treat_whitespace_as_suffix");
  const std::vector<std::string> names = names_of_pieces(model, config);
  const bool legacy = config.get_bool("legacy", true);
  const std::string where(what);

  std::vector<std::string_view> whole;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (model.pieces[i].type == PieceType::user_defined) whole.push_back(names[i]);
  }
  std::vector<NormalizerPtr> normalizers;
  normalizers.push_back(precompiled_rules(model, what));
  if (model.remove_extra_whitespaces) {
    normalizers.push_back(replace({R"(\A +| +\z)", true}, "", where));
    normalizers.push_back(replace({" {2,}", true}, " ", where));
  }
  if (model.escape_whitespaces) normalizers.push_back(replace({" "}, std::string(kWordStart), where));
  // SentencePiece's dummy prefix comes even before a text that begins with the mark.
  if (model.add_dummy_prefix && legacy)
    normalizers.push_back(
        replace({"\\A" + std::string(kWordStart), true}, std::string(kWordStart) + std::string(kWordStart), where));

  std::vector<PreTokenizerPtr> pre_tokenizers;
  if (model.add_dummy_prefix)
    pre_tokenizers.push_back(
        metaspace({.prepend = legacy ? PrependScheme::always : PrependScheme::first, .split = false}));
  if (!whole.empty()) {
    std::vector<std::string_view> longest_first = whole;
    std::ranges::stable_sort(longest_first, std::ranges::greater(),
                             [](std::string_view text) { return count_code_points(text); });
    std::string pattern;
    for (const std::string_view text : longest_first) pattern += (pattern.empty() ? "" : "|") + escaped_for_regex(text);
    pre_tokenizers.push_back(split({std::move(pattern), true}, Delimiters::isolated, false, where));
  }

  return {.normalizer = joined(std::move(normalizers)),
          .pre_tokenizer = pre_tokenizers.empty() ? nullptr : pre_tokenizer_sequence(std::move(pre_tokenizers)),
          .model = plain_model(model, names, !whole.empty(), what)};
}

Converted convert_plain(const SentencePieceModel& model, const TokenizerConfig& config, std::string_view what) {
  std::vector<NamedToken> usual;
  if (model.bos_id >= 0) usual.push_back({"bos_token", StatedToken::special(model.bos_piece)});
  if (model.eos_id >= 0) usual.push_back({"eos_token", StatedToken::special(model.eos_piece)});
  if (model.unk_id >= 0) usual.push_back({"unk_token", StatedToken::special(model.unk_piece)});
  std::erase_if(usual, [](const NamedToken& token) { return token.token.token.content.empty(); });
  const std::vector<NamedToken> named = config.named_tokens(usual);
  std::vector<StatedToken> further;
  if (config.further_tokens()) {
    further = *config.further_tokens();
  } else {
    further = added_pieces(model);
    std::erase_if(further, [](const StatedToken& token) { return !token.token.special; });
  }
  std::vector<AddedToken> added = config.added_tokens(named, further);
  if (model.add_dummy_prefix) {
    for (std::size_t i = 0; i < std::min(added.size(), config.numbered_tokens().size()); ++i)
      added[i].normalized = false;
  }

  PlainPipeline plain = plain_pipeline(model, config, what);
  Assembly assembly(
      std::move(plain.normalizer), std::move(plain.pre_tokenizer), std::move(plain.model), std::move(added),
      spm_decoder(model.byte_fallback, model.byte_fallback || model.add_dummy_prefix, model.add_dummy_prefix), what);
  PostProcessorPtr marks = stated_marks(assembly, config, named, what);
  return std::move(assembly).finish(std::move(marks));
}

bool is_sentencepiece_class(std::string_view class_name) { return find_spm_family(class_name) != nullptr; }

std::shared_ptr<Tokenizer::Parts> read_sentencepiece(std::span<const std::byte> file, const TokenizerConfig& config,
                                                     std::string_view what) {
  const std::string& class_name = config.class_name();
  if (std::ranges::find(kOtherSpmClasses, class_name) != kOtherSpmClasses.end())
    throw make_error(ErrorCode::unsupported, what, ": the tokenizer's class has a conversion of its own; ",
                     "make a tokenizer.json once in Python: ",
                     "transformers.AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER): ", class_name);
  if (std::ranges::find(kSlowSpmClasses, class_name) != kSlowSpmClasses.end())
    throw make_error(ErrorCode::unsupported, what, ": the tokenizer's class is not read by this version: ", class_name);
  const SentencePieceModel model = parse_sentencepiece_model(file, what);
  const SpmFamily* family = find_spm_family(class_name);
  return family == nullptr ? convert_plain(model, config, what) : family->convert(model, config, what);
}

}  // namespace alate::tokenizers
