#include "tokenizers/sources/vocab_merges.h"

#include <algorithm>
#include <array>
#include <limits>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "formats/json.h"
#include "formats/utf8.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/class_tokens.h"
#include "tokenizers/sources/known_patterns.h"

namespace alate::tokenizers {
namespace {

constexpr std::string_view kClipPattern =
    R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

struct BpeFiles {
  const std::filesystem::path& folder;
  const TokenizerConfig& config;
  std::string where;

  ModelPtr model(const BpeOptions& options) const {
    const std::string merges = (folder / "merges.txt").string();
    return bpe(read_vocab_json(folder), parse_merges(base::read_contained_file(folder, "merges.txt"), merges), options,
               where);
  }
  std::vector<AddedToken> added(const std::vector<NamedToken>& named) const {
    return config.added_tokens(named, config.further_tokens().value_or(std::vector<StatedToken>()));
  }
};

using LoadedParts = std::shared_ptr<Tokenizer::Parts>;

LoadedParts load_like_gpt2(const BpeFiles& files, const std::vector<NamedToken>& usual, NormalizerPtr normalizer) {
  const auto named = files.config.named_tokens(usual);
  Assembly assembly(std::move(normalizer),
                    byte_level_pre_tokenizer({.add_prefix_space = files.config.get_bool("add_prefix_space", false)}),
                    files.model({}), files.added(named), byte_level_decoder(), files.where);
  // CodeGen's class has a post-processor of its own, which leaves offsets alone too.
  PostProcessorPtr marks = stated_marks(assembly, files.config, named, files.where);
  return std::move(assembly).finish(std::move(marks));
}

LoadedParts load_gpt2(const BpeFiles& files) { return load_like_gpt2(files, gpt2_tokens(), nullptr); }

LoadedParts load_gpt_neox(const BpeFiles& files) {
  std::vector<NamedToken> usual = gpt2_tokens();
  usual.push_back({"pad_token", StatedToken::special("<|padding|>")});
  return load_like_gpt2(files, usual, unicode_normalizer(NormalForm::nfc));
}

LoadedParts load_qwen2(const BpeFiles& files) {
  const auto named = files.config.named_tokens(
      usual_tokens({{"unk_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"pad_token", "<|endoftext|>"}}));
  std::vector<PreTokenizerPtr> parts;
  parts.push_back(split({std::string(patterns::kQwen2), true}, Delimiters::isolated, false, files.where));
  parts.push_back(byte_level_pre_tokenizer(
      {.add_prefix_space = files.config.get_bool("add_prefix_space", false), .use_regex = false}));
  Assembly assembly(unicode_normalizer(NormalForm::nfc), pre_tokenizer_sequence(std::move(parts)), files.model({}),
                    files.added(named), byte_level_decoder(), files.where);
  PostProcessorPtr marks = stated_marks(assembly, files.config, named, files.where);
  return std::move(assembly).finish(std::move(marks));
}

LoadedParts load_roberta(const BpeFiles& files) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back({"mask_token", StatedToken::special("<mask>")});
  const auto named = files.config.named_tokens(usual);
  const bool add_prefix_space = files.config.get_bool("add_prefix_space", false);
  Assembly assembly(nullptr, byte_level_pre_tokenizer({.add_prefix_space = add_prefix_space}), files.model({}),
                    files.added(named), byte_level_decoder(), files.where);
  PostProcessorPtr roberta = roberta_processing(assembly.special(text_of_role(named, "sep_token", "</s>")),
                                                assembly.special(text_of_role(named, "cls_token", "<s>")),
                                                files.config.get_bool("trim_offsets", true), add_prefix_space);
  return std::move(assembly).finish(std::move(roberta));
}

LoadedParts load_blenderbot(const BpeFiles& files) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back(mask_with_space("<mask>", false));
  const auto named = files.config.named_tokens(usual);
  Assembly assembly(nullptr,
                    byte_level_pre_tokenizer({.add_prefix_space = files.config.get_bool("add_prefix_space", true)}),
                    files.model({}), files.added(named), byte_level_decoder(), files.where);
  PostProcessorPtr marks = stated_marks(assembly, files.config, named, files.where);
  return std::move(assembly).finish(std::move(marks));
}

LoadedParts load_deberta(const BpeFiles& files) {
  const auto named = files.config.named_tokens(deberta_tokens());
  Assembly assembly(nullptr,
                    byte_level_pre_tokenizer({.add_prefix_space = files.config.get_bool("add_prefix_space", false)}),
                    files.model({}), files.added(named), byte_level_decoder(), files.where);
  const SpecialToken sep = assembly.special(text_of_role(named, "sep_token", "[SEP]"));
  PostProcessorPtr ends = surrounding_template(
      {.before = {assembly.special(text_of_role(named, "cls_token", "[CLS]"))}, .middle = {sep, sep}, .after = {sep}},
      files.where);
  return std::move(assembly).finish(std::move(ends));
}

// CLIP's class turns the end-of-word marks of decoded text into spaces, and strips it as Python does.
DecoderPtr clip_decoder(std::string_view where) {
  std::vector<DecoderPtr> parts;
  parts.push_back(byte_level_decoder());
  parts.push_back(replace_decoder({"</w>"}, " ", where));
  parts.push_back(replace_decoder({R"(\A[\s\x1C-\x1F]+|[\s\x1C-\x1F]+\z)", true}, "", where));
  return decoder_sequence(std::move(parts));
}

LoadedParts load_clip(const BpeFiles& files) {
  const auto named = files.config.named_tokens(usual_tokens({{"unk_token", "<|endoftext|>"},
                                                             {"bos_token", "<|startoftext|>"},
                                                             {"eos_token", "<|endoftext|>"},
                                                             {"pad_token", "<|endoftext|>"}}));
  std::vector<NormalizerPtr> normalizers;
  normalizers.push_back(unicode_normalizer(NormalForm::nfc));
  normalizers.push_back(replace({R"(\s+)", true}, " ", files.where));
  normalizers.push_back(lowercase());
  std::vector<PreTokenizerPtr> pre_tokenizers;
  pre_tokenizers.push_back(split({std::string(kClipPattern), true}, Delimiters::removed, true, files.where));
  pre_tokenizers.push_back(byte_level_pre_tokenizer({.add_prefix_space = false}));
  Assembly assembly(
      normalizer_sequence(std::move(normalizers)), pre_tokenizer_sequence(std::move(pre_tokenizers)),
      files.model({.unk_token = text_of_role(named, "unk_token", "<|endoftext|>"), .end_of_word_suffix = "</w>"}),
      files.added(named), clip_decoder(files.where), files.where);
  PostProcessorPtr ends =
      roberta_processing(assembly.special(text_of_role(named, "eos_token", "<|endoftext|>")),
                         assembly.special(text_of_role(named, "bos_token", "<|startoftext|>")), false, false);
  return std::move(assembly).finish(std::move(ends));
}

// Whisper's languages in the order of their tokens, of which the first follows <|startoftranscript|>.
struct Language {
  std::string_view code, english;
};
constexpr std::array kLanguages = std::to_array<Language>({
    {"en", "english"},        {"zh", "chinese"},       {"de", "german"},    {"es", "spanish"},    {"ru", "russian"},
    {"ko", "korean"},         {"fr", "french"},        {"ja", "japanese"},  {"pt", "portuguese"}, {"tr", "turkish"},
    {"pl", "polish"},         {"ca", "catalan"},       {"nl", "dutch"},     {"ar", "arabic"},     {"sv", "swedish"},
    {"it", "italian"},        {"id", "indonesian"},    {"hi", "hindi"},     {"fi", "finnish"},    {"vi", "vietnamese"},
    {"he", "hebrew"},         {"uk", "ukrainian"},     {"el", "greek"},     {"ms", "malay"},      {"cs", "czech"},
    {"ro", "romanian"},       {"da", "danish"},        {"hu", "hungarian"}, {"ta", "tamil"},      {"no", "norwegian"},
    {"th", "thai"},           {"ur", "urdu"},          {"hr", "croatian"},  {"bg", "bulgarian"},  {"lt", "lithuanian"},
    {"la", "latin"},          {"mi", "maori"},         {"ml", "malayalam"}, {"cy", "welsh"},      {"sk", "slovak"},
    {"te", "telugu"},         {"fa", "persian"},       {"lv", "latvian"},   {"bn", "bengali"},    {"sr", "serbian"},
    {"az", "azerbaijani"},    {"sl", "slovenian"},     {"kn", "kannada"},   {"et", "estonian"},   {"mk", "macedonian"},
    {"br", "breton"},         {"eu", "basque"},        {"is", "icelandic"}, {"hy", "armenian"},   {"ne", "nepali"},
    {"mn", "mongolian"},      {"bs", "bosnian"},       {"kk", "kazakh"},    {"sq", "albanian"},   {"sw", "swahili"},
    {"gl", "galician"},       {"mr", "marathi"},       {"pa", "punjabi"},   {"si", "sinhala"},    {"km", "khmer"},
    {"sn", "shona"},          {"yo", "yoruba"},        {"so", "somali"},    {"af", "afrikaans"},  {"oc", "occitan"},
    {"ka", "georgian"},       {"be", "belarusian"},    {"tg", "tajik"},     {"sd", "sindhi"},     {"gu", "gujarati"},
    {"am", "amharic"},        {"yi", "yiddish"},       {"lo", "lao"},       {"uz", "uzbek"},      {"fo", "faroese"},
    {"ht", "haitian creole"}, {"ps", "pashto"},        {"tk", "turkmen"},   {"nn", "nynorsk"},    {"mt", "maltese"},
    {"sa", "sanskrit"},       {"lb", "luxembourgish"}, {"my", "myanmar"},   {"bo", "tibetan"},    {"tl", "tagalog"},
    {"mg", "malagasy"},       {"as", "assamese"},      {"tt", "tatar"},     {"haw", "hawaiian"},  {"ln", "lingala"},
    {"ha", "hausa"},          {"ba", "bashkir"},       {"jw", "javanese"},  {"su", "sundanese"},  {"yue", "cantonese"},
});

std::string_view whisper_language(const std::string& stated, std::string_view where) {
  std::string lower = stated;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto* found = std::ranges::find_if(
      kLanguages, [&](const Language& language) { return language.code == lower || language.english == lower; });
  if (found == kLanguages.end())
    throw make_error(ErrorCode::corrupt, where, ": language is ", formats::quoted_name(stated),
                     ", which Whisper does not have");
  return found->code;
}

LoadedParts load_whisper(const BpeFiles& files) {
  const TokenizerConfig& config = files.config;
  std::vector<NamedToken> usual =
      usual_tokens({{"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}});
  for (NamedToken& token : usual) token.token.normalized = false;
  const auto named = config.named_tokens(usual);
  Assembly assembly(nullptr, byte_level_pre_tokenizer({.add_prefix_space = config.get_bool("add_prefix_space", false)}),
                    files.model({}), files.added(named), byte_level_decoder(), files.where);
  TemplateTexts texts{.before = {}, .middle = {}, .after = {}, .types_of_pair = true};
  const SpecialToken start = assembly.special("<|startoftranscript|>");
  texts.before.push_back(start);
  if (const std::string stated = config.get_string("language", ""); !stated.empty())
    texts.before.push_back(assembly.special("<|" + std::string(whisper_language(stated, config.where())) + "|>"));
  if (const std::string task = config.get_string("task", ""); !task.empty()) {
    if (task != "transcribe" && task != "translate")
      throw make_error(ErrorCode::corrupt, config.where(), ": task must be transcribe or translate");
    texts.before.push_back(assembly.special("<|" + task + "|>"));
  }
  if (!config.get_bool("predict_timestamps", false)) texts.before.push_back(assembly.special("<|notimestamps|>"));
  texts.after.push_back(assembly.special(text_of_role(named, "eos_token", "<|endoftext|>")));
  PostProcessorPtr prompt = surrounding_template(texts, files.where);
  return std::move(assembly).finish(std::move(prompt));
}

struct BpeFamily {
  std::string_view class_name;
  LoadedParts (*load)(const BpeFiles&);
};
constexpr std::array kBpeFamilies = std::to_array<BpeFamily>({
    {"RobertaTokenizer", load_roberta},
    {"BartTokenizer", load_roberta},
    {"LongformerTokenizer", load_roberta},
    {"LEDTokenizer", load_roberta},
    {"MvpTokenizer", load_roberta},
    {"CLIPTokenizer", load_clip},
    {"WhisperTokenizer", load_whisper},
    {"Qwen2Tokenizer", load_qwen2},
    {"DebertaTokenizer", load_deberta},
    {"BlenderbotTokenizer", load_blenderbot},
    {"GPTNeoXTokenizer", load_gpt_neox},
});

// Classes whose files have these names but that are no byte-level BPE, or need more than these files.
constexpr std::array<std::string_view, 17> kOtherBpeClasses = {
    "LayoutLMv3Tokenizer",      "LukeTokenizer",    "MLukeTokenizer", "TapexTokenizer",    "GPTSw3Tokenizer",
    "OpenAIGPTTokenizer",       "HerbertTokenizer", "XLMTokenizer",   "FlaubertTokenizer", "BertweetTokenizer",
    "PhobertTokenizer",         "FSMTTokenizer",    "CTRLTokenizer",  "BioGptTokenizer",   "MarkupLMTokenizer",
    "BlenderbotSmallTokenizer", "ClvpTokenizer"};

}  // namespace

Vocabulary read_vocab_json(const std::filesystem::path& folder) {
  const std::string where = (folder / "vocab.json").string();
  const formats::Json file = formats::parse_json(base::read_contained_file(folder, "vocab.json"), where);
  if (!file.is_object()) throw make_error(ErrorCode::corrupt, where, " must be a JSON object of tokens and ids");
  const formats::Json::Object& tokens = file.as_object(where);
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  for (const auto& [token, id] : tokens) {
    if (!id.is_integer() || id.as_int("id") < 0 || id.as_int("id") > std::numeric_limits<std::int32_t>::max())
      throw make_error(ErrorCode::corrupt, where, ": the id of ", formats::quoted_name(token),
                       " is no whole number from 0 to 2147483647");
    vocabulary.add(token, static_cast<std::int32_t>(id.as_int("id")));
  }
  vocabulary.finish();
  return vocabulary;
}

std::vector<std::pair<std::string, std::string>> parse_merges(std::string_view text, std::string_view what) {
  if (formats::valid_utf8_prefix(text) < text.size()) throw make_error(ErrorCode::corrupt, what, " is not UTF-8 text");
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      throw make_error(ErrorCode::corrupt, what, ", line ", number, ": a merge is two tokens with a space between");
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

std::shared_ptr<Tokenizer::Parts> load_vocab_merges(const std::filesystem::path& folder,
                                                    const TokenizerConfig& config) {
  const BpeFiles files{folder, config, (folder / "vocab.json").string()};
  const std::string& class_name = config.class_name();
  if (std::ranges::find(kOtherBpeClasses, class_name) != kOtherBpeClasses.end())
    throw make_error(ErrorCode::unsupported, files.where, ": the tokenizer's class is not read from a vocab.json; ",
                     "make a tokenizer.json once in Python: ",
                     "transformers.AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER): ", class_name);
  const auto* family = std::ranges::find(kBpeFamilies, class_name, &BpeFamily::class_name);
  return family == kBpeFamilies.end() ? load_gpt2(files) : family->load(files);
}

}  // namespace alate::tokenizers
