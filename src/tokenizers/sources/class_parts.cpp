#include "tokenizers/sources/class_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "tokenizers/sources/class_tokens.h"
#include "tokenizers/sources/known_patterns.h"

namespace alate::tokenizers {
namespace {

using formats::Json;

// Writes a part as tokenizer.json does.
Json part(std::string_view type, std::vector<Json::Member> members = {}) {
  members.insert(members.begin(), {"type", Json(type)});
  return Json(std::move(members));
}

Json sequence(std::string_view key, std::vector<Json> parts) {
  return part("Sequence", {{std::string(key), Json(std::move(parts))}});
}

Json replace_part(std::string_view kind, std::string_view pattern, std::string_view content) {
  return part("Replace", {{"pattern", Json(Json::Object{{std::string(kind), Json(pattern)}})}, {"content", content}});
}

// The first Precompiled of the file's normalizer, which such a class takes over; null if there is none.
Json precompiled_of(const Json& file) {
  const Json* normalizer = file.find_value("normalizer");
  if (normalizer == nullptr || !normalizer->is_object()) return {};
  const auto is_rules = [](const Json& each) {
    const Json* type = each.find_value("type");
    return type != nullptr && type->is_string() && type->as_string("type") == "Precompiled" &&
           each.find_value("precompiled_charsmap") != nullptr;
  };
  const auto copied = [](const Json& rules) {
    return part("Precompiled", {{"precompiled_charsmap", *rules.find("precompiled_charsmap")}});
  };
  if (is_rules(*normalizer)) return copied(*normalizer);
  const Json* parts = normalizer->find_value("normalizers");
  if (parts == nullptr || !parts->is_array()) return {};
  for (const Json& each : parts->as_array("normalizers")) {
    if (is_rules(each)) return copied(each);
  }
  return {};
}

std::string role_text(const std::vector<NamedToken>& named, std::string_view role,
                      const std::vector<NamedToken>& usual) {
  const std::string* text = content_of(named, role);
  return text != nullptr ? *text : text_of_role(usual, role, "");
}

// BERT's descendants over WordPiece.
ClassParts bert_parts(const TokenizerConfig& config, const std::vector<NamedToken>& usual, bool states_cleaning) {
  ClassParts made;
  made.named = config.named_tokens(usual);
  const Json* strip = config.find("strip_accents");
  const bool states_strip = strip != nullptr && !strip->is_null();
  made.parts.emplace_back(
      "normalizer",
      part("BertNormalizer", {{"clean_text", Json(!states_cleaning || config.get_bool("clean_text", true))},
                              {"handle_chinese_chars", Json(config.get_bool("tokenize_chinese_chars", true))},
                              {"strip_accents", states_strip ? Json(config.get_bool("strip_accents", false)) : Json()},
                              {"lowercase", Json(config.get_bool("do_lower_case", true))}}));
  made.parts.emplace_back("pre_tokenizer", part("BertPreTokenizer"));
  made.model_members.emplace_back("unk_token", Json(role_text(made.named, "unk_token", usual)));
  made.model_members.emplace_back("continuing_subword_prefix", Json("##"));
  made.model_members.emplace_back("max_input_chars_per_word", Json(100));
  made.special_tokens = ClassParts::Template::bert;
  made.first = role_text(made.named, "cls_token", usual);
  made.last = role_text(made.named, "sep_token", usual);
  return made;
}

ClassParts bert_class(const Json&, const TokenizerConfig& config) { return bert_parts(config, bert_tokens(), false); }

ClassParts mpnet_class(const Json&, const TokenizerConfig& config) {
  ClassParts made = bert_parts(config, mpnet_tokens(), false);
  made.special_tokens = ClassParts::Template::roberta;
  return made;
}

ClassParts funnel_class(const Json&, const TokenizerConfig& config) {
  ClassParts made = bert_parts(config, funnel_tokens(), true);
  made.special_tokens = ClassParts::Template::funnel;
  return made;
}

// GPT-2's descendants over byte-level BPE.
ClassParts byte_level_parts(const TokenizerConfig& config, const std::vector<NamedToken>& usual) {
  ClassParts made;
  made.named = config.named_tokens(usual);
  made.add_prefix_space = config.get_bool("add_prefix_space", false);
  made.parts.emplace_back("normalizer", Json());
  made.parts.emplace_back("pre_tokenizer", part("ByteLevel", {{"add_prefix_space", Json(made.add_prefix_space)},
                                                              {"trim_offsets", Json(true)},
                                                              {"use_regex", Json(true)}}));
  return made;
}

ClassParts gpt2_class(const Json&, const TokenizerConfig& config) { return byte_level_parts(config, gpt2_tokens()); }

ClassParts roberta_class(const Json&, const TokenizerConfig& config) {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back({"mask_token", StatedToken::special("<mask>")});
  ClassParts made = byte_level_parts(config, usual);
  made.trim_offsets = config.get_bool("trim_offsets", true);
  made.special_tokens = ClassParts::Template::roberta;
  made.first = role_text(made.named, "cls_token", usual);
  made.last = role_text(made.named, "sep_token", usual);
  return made;
}

ClassParts deberta_class(const Json&, const TokenizerConfig& config) {
  ClassParts made = byte_level_parts(config, deberta_tokens());
  made.special_tokens = ClassParts::Template::doubled_end;
  made.first = role_text(made.named, "cls_token", deberta_tokens());
  made.last = role_text(made.named, "sep_token", deberta_tokens());
  return made;
}

// Unigram models of SentencePiece.
Json metaspace_part(std::string_view scheme) {
  return part("Metaspace", {{"replacement", Json("\u2581")}, {"prepend_scheme", Json(scheme)}, {"split", Json(true)}});
}

Json words_part(std::string_view scheme) {
  return sequence("pretokenizers", {part("WhitespaceSplit"), metaspace_part(scheme)});
}

std::string_view always_or(std::string_view otherwise, const TokenizerConfig& config) {
  return config.get_bool("add_prefix_space", true) ? "always" : otherwise;
}

ClassParts albert_class(const Json& file, const TokenizerConfig& config) {
  ClassParts made;
  made.named = config.named_tokens(deberta_tokens());
  std::vector<Json> steps{replace_part("String", "``", "\""), replace_part("String", "''", "\"")};
  if (!config.get_bool("keep_accents", false)) {
    steps.push_back(part("NFKD"));
    steps.push_back(part("StripAccents"));
  }
  if (config.get_bool("do_lower_case", true)) steps.push_back(part("Lowercase"));
  if (Json rules = precompiled_of(file); !rules.is_null()) steps.push_back(std::move(rules));
  made.parts.emplace_back("normalizer", sequence("normalizers", std::move(steps)));
  made.parts.emplace_back("pre_tokenizer", words_part(always_or("never", config)));
  made.model_members.emplace_back("unk_id", Json(1));
  made.special_tokens = ClassParts::Template::bert;
  made.first = role_text(made.named, "cls_token", deberta_tokens());
  made.last = role_text(made.named, "sep_token", deberta_tokens());
  return made;
}

ClassParts deberta_v2_class(const Json&, const TokenizerConfig& config) {
  ClassParts made;
  made.named = config.named_tokens(deberta_tokens());
  std::vector<Json> steps;
  if (config.get_bool("do_lower_case", false)) steps.push_back(part("Lowercase"));
  steps.push_back(replace_part("Regex", R"(\s{2,}|[\n\r\t])", " "));
  steps.push_back(part("NFC"));
  steps.push_back(part("Strip", {{"strip_left", Json(false)}, {"strip_right", Json(true)}}));
  made.parts.emplace_back("normalizer", sequence("normalizers", std::move(steps)));
  std::vector<Json> cuts;
  if (config.get_bool("split_by_punct", false)) cuts.push_back(part("Punctuation", {{"behavior", Json("Isolated")}}));
  cuts.push_back(metaspace_part(always_or("first", config)));
  made.parts.emplace_back("pre_tokenizer", sequence("pretokenizers", std::move(cuts)));
  made.special_tokens = ClassParts::Template::bert;
  made.first = role_text(made.named, "cls_token", deberta_tokens());
  made.last = role_text(made.named, "sep_token", deberta_tokens());
  return made;
}

ClassParts xlm_roberta_class(const Json& file, const TokenizerConfig& config) {
  ClassParts made;
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back({"mask_token", StatedToken::special("<mask>")});
  made.named = config.named_tokens(usual);
  made.parts.emplace_back("normalizer", precompiled_of(file));
  made.parts.emplace_back("pre_tokenizer", words_part(always_or("never", config)));
  made.model_members.emplace_back("unk_id", Json(3));
  made.special_tokens = ClassParts::Template::doubled_end;
  made.first = role_text(made.named, "bos_token", usual);
  made.last = role_text(made.named, "eos_token", usual);
  return made;
}

ClassParts t5_class(const Json& file, const TokenizerConfig& config) {
  ClassParts made;
  const auto usual = usual_tokens({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  made.named = config.named_tokens(usual);
  const std::size_t extra = numbered_count(config, "extra_ids", 100);
  for (std::size_t i = 0; i < extra; ++i)
    made.further.push_back(StatedToken::special("<extra_id_" + std::to_string(i) + ">"));
  made.parts.emplace_back("normalizer", precompiled_of(file));
  made.parts.emplace_back("pre_tokenizer", words_part("always"));
  made.model_members.emplace_back("unk_id", Json(2));
  made.special_tokens = ClassParts::Template::behind;
  made.last = role_text(made.named, "eos_token", usual);
  made.middle = {made.last};
  return made;
}

std::vector<NamedToken> fairseq_tokens() {
  std::vector<NamedToken> usual = roberta_tokens();
  usual.push_back(mask_with_space("<mask>"));
  return usual;
}

ClassParts camembert_class(const Json& file, const TokenizerConfig& config) {
  ClassParts made;
  const std::vector<NamedToken> usual = fairseq_tokens();
  made.named = config.named_tokens(usual);
  for (const char* unused : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"})
    made.further.push_back(StatedToken::special(unused));
  made.parts.emplace_back("normalizer", precompiled_of(file));
  made.parts.emplace_back("pre_tokenizer", words_part(always_or("never", config)));
  made.special_tokens = ClassParts::Template::doubled_end;
  made.first = role_text(made.named, "bos_token", usual);
  made.last = role_text(made.named, "eos_token", usual);
  return made;
}

// The language of texts ends them.
ClassParts mbart_class(const Json&, const TokenizerConfig& config) {
  ClassParts made;
  const std::vector<NamedToken> usual = fairseq_tokens();
  made.named = config.named_tokens(usual);
  const std::string language = config.get_string("src_lang", "en_XX");
  bool is_known = false;
  for (const std::string_view each : mbart_languages()) {
    made.further.push_back(StatedToken::special(each));
    is_known |= each == language;
  }
  made.parts.emplace_back("normalizer", Json());
  made.parts.emplace_back("pre_tokenizer", words_part("always"));
  made.model_members.emplace_back("unk_id", Json(3));
  made.special_tokens = ClassParts::Template::behind;
  made.first = role_text(made.named, "eos_token", usual);
  made.last = is_known ? language : role_text(made.named, "unk_token", usual);
  return made;
}

// BPE models of language models: what stands around a text is as the file has it.
Json metaspace_of_llama(const TokenizerConfig& config) {
  const bool is_legacy = config.get_bool("legacy", false);
  const std::string_view scheme = is_legacy                                   ? always_or("never", config)
                                  : config.get_bool("add_prefix_space", true) ? "first"
                                                                              : "never";
  return part("Metaspace", {{"replacement", Json("\u2581")}, {"prepend_scheme", Json(scheme)}, {"split", Json(false)}});
}

ClassParts llama_class(const Json&, const TokenizerConfig& config) {
  ClassParts made;
  made.named = config.named_tokens(usual_tokens({{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}}));
  made.parts.emplace_back("normalizer", Json());
  made.parts.emplace_back("pre_tokenizer", metaspace_of_llama(config));
  made.model_members.emplace_back("fuse_unk", Json(true));
  made.model_members.emplace_back("byte_fallback", Json(true));
  return made;
}

ClassParts gemma_class(const Json&, const TokenizerConfig& config) {
  ClassParts made;
  const auto usual = usual_tokens({{"unk_token", "<unk>"},
                                   {"bos_token", "<bos>"},
                                   {"eos_token", "<eos>"},
                                   {"pad_token", "<pad>"},
                                   {"mask_token", "<mask>"}});
  made.named = config.named_tokens(usual);
  made.parts.emplace_back("normalizer", replace_part("String", " ", "\u2581"));
  made.parts.emplace_back("pre_tokenizer", part("Split", {{"pattern", Json(Json::Object{{"String", Json(" ")}})},
                                                          {"behavior", Json("MergedWithPrevious")},
                                                          {"invert", Json(false)}}));
  made.model_members.emplace_back("unk_token", Json(role_text(made.named, "unk_token", usual)));
  made.model_members.emplace_back("fuse_unk", Json(true));
  made.model_members.emplace_back("byte_fallback", Json(true));
  return made;
}

// Whether byte-level offsets leave out spaces is said by post-processors only.
Json stated_trimming(const Json& file) {
  const Json* cut = file.find_value("pre_tokenizer");
  const Json* parts = cut != nullptr && cut->is_object() ? cut->find_value("pretokenizers") : nullptr;
  if (parts == nullptr || !parts->is_array()) return Json(true);
  for (const Json& each : parts->as_array("pretokenizers")) {
    const Json* stated = each.is_object() ? each.find_value("trim_offsets") : nullptr;
    if (stated != nullptr) return *stated;
  }
  return Json(true);
}

ClassParts qwen2_class(const Json& file, const TokenizerConfig& config) {
  ClassParts made;
  made.named = config.named_tokens(
      usual_tokens({{"unk_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"pad_token", "<|endoftext|>"}}));
  const Json words = part("Split", {{"pattern", Json(Json::Object{{"Regex", Json(patterns::kQwen2)}})},
                                    {"behavior", Json("Isolated")},
                                    {"invert", Json(false)}});
  const Json bytes = part("ByteLevel", {{"add_prefix_space", Json(config.get_bool("add_prefix_space", false))},
                                        {"trim_offsets", stated_trimming(file)},
                                        {"use_regex", Json(false)}});
  made.parts.emplace_back("normalizer", part("NFC"));
  made.parts.emplace_back("pre_tokenizer", sequence("pretokenizers", {words, bytes}));
  made.model_members.emplace_back("unk_token", Json());
  made.model_members.emplace_back("fuse_unk", Json(false));
  made.model_members.emplace_back("byte_fallback", Json(false));
  return made;
}

struct ClassRow {
  std::string_view name, model;  // the class without "Fast", and the type of the file's model
  ClassParts (*make)(const Json& file, const TokenizerConfig& config);
};

// transformers 5.23: classes that have an __init__ of their own, and their other names.
constexpr std::array kClasses = std::to_array<ClassRow>({
    {"AlbertTokenizer", "Unigram", albert_class},
    {"BartTokenizer", "BPE", roberta_class},
    {"BertTokenizer", "WordPiece", bert_class},
    {"CamembertTokenizer", "Unigram", camembert_class},
    {"DebertaTokenizer", "BPE", deberta_class},
    {"DebertaV2Tokenizer", "Unigram", deberta_v2_class},
    {"DistilBertTokenizer", "WordPiece", bert_class},
    {"ElectraTokenizer", "WordPiece", bert_class},
    {"FunnelTokenizer", "WordPiece", funnel_class},
    {"GPT2Tokenizer", "BPE", gpt2_class},
    {"GemmaTokenizer", "BPE", gemma_class},
    {"LEDTokenizer", "BPE", roberta_class},
    {"LayoutLMTokenizer", "WordPiece", bert_class},
    {"LlamaTokenizer", "BPE", llama_class},
    {"LongformerTokenizer", "BPE", roberta_class},
    {"LxmertTokenizer", "WordPiece", bert_class},
    {"MBartTokenizer", "Unigram", mbart_class},
    {"MPNetTokenizer", "WordPiece", mpnet_class},
    {"MobileBertTokenizer", "WordPiece", bert_class},
    {"MvpTokenizer", "BPE", roberta_class},
    {"Qwen2Tokenizer", "BPE", qwen2_class},
    {"RobertaTokenizer", "BPE", roberta_class},
    {"SqueezeBertTokenizer", "WordPiece", bert_class},
    {"T5Tokenizer", "Unigram", t5_class},
    {"XLMRobertaTokenizer", "Unigram", xlm_roberta_class},
});

// Members of pre-tokenizers that older files lack have their defaults, and some are only in older files.
Json in_present_spelling(const Json& own, const Json& part) {
  const Json* type = own.find("type");
  const std::string name = type != nullptr && type->is_string() ? type->as_string("type") : std::string();
  if (name != "Metaspace" && name != "ByteLevel") return part;
  Json::Object members;
  for (const Json::Member& member : own.as_object("a part")) {
    const Json* stated = part.find(member.first);
    if (stated != nullptr) members.emplace_back(member.first, *stated);
  }
  const auto add_if_absent = [&](std::string_view key, const Json& value) {
    if (part.find(key) == nullptr) members.emplace_back(std::string(key), value);
  };
  if (name == "ByteLevel") {
    add_if_absent("use_regex", Json(true));
  } else {
    const Json* prefix = part.find("add_prefix_space");
    const bool is_never = prefix != nullptr && prefix->is_bool() && !prefix->as_bool("add_prefix_space");
    add_if_absent("prepend_scheme", Json(is_never ? "never" : "always"));
    add_if_absent("split", Json(true));
  }
  return Json(std::move(members));
}

// A text and a pair of one token each, as the processor leaves them.
Encoding probed(const PostProcessor* processor, bool pair) {
  std::vector<Encoding> encodings;
  for (std::int32_t text = 0; text < (pair ? 2 : 1); ++text) {
    Encoding& encoding = encodings.emplace_back();
    encoding.ids = {-1 - text};
    encoding.type_ids = {text};
    encoding.special_mask = {0};
    encoding.attention_mask = {1};
  }
  if (processor != nullptr) processor->apply(encodings, {.wanted = {.tokens = false, .offsets = false}});
  Encoding all;
  for (const Encoding& encoding : encodings) {
    all.ids.insert(all.ids.end(), encoding.ids.begin(), encoding.ids.end());
    all.type_ids.insert(all.type_ids.end(), encoding.type_ids.begin(), encoding.type_ids.end());
  }
  return all;
}

}  // namespace

std::optional<ClassParts> class_parts(const Json& file, std::string_view model, const TokenizerConfig& config) {
  const auto* row = std::ranges::find(kClasses, std::string_view(config.class_name()), &ClassRow::name);
  if (row == kClasses.end() || row->model != model) return std::nullopt;
  return row->make(file, config);
}

PostProcessorPtr class_template(const ClassParts& parts, const SpecialTokenOf& special, std::string_view where) {
  using Template = ClassParts::Template;
  if (parts.special_tokens == Template::from_file) return nullptr;
  if (parts.special_tokens == Template::behind) {
    TemplateTexts texts;
    for (const std::string& text : parts.middle) texts.middle.push_back(special(text));
    if (!parts.first.empty()) texts.after.push_back(special(parts.first));
    texts.after.push_back(special(parts.last));
    return surrounding_template(texts, where);
  }
  SpecialToken first = special(parts.first), last = special(parts.last);
  switch (parts.special_tokens) {
    case Template::roberta:
      return roberta_processing(std::move(last), std::move(first), parts.trim_offsets, parts.add_prefix_space);
    case Template::doubled_end:
      return surrounding_template({.before = {first}, .middle = {last, last}, .after = {last}}, where);
    case Template::funnel: return first_of_own_type(first, last, where);
    default:
      return surrounding_template({.before = {first}, .middle = {last}, .after = {last}, .types_of_pair = true}, where);
  }
}

bool same_special_tokens(const PostProcessor* left, const PostProcessor* right) {
  return std::ranges::all_of(std::array{false, true}, [&](bool pair) {
    const Encoding one = probed(left, pair), other = probed(right, pair);
    return one.ids == other.ids && one.type_ids == other.type_ids;
  });
}

bool same_part(const Json& own, const Json& part) {
  if (own.is_object() && part.is_object()) {
    const Json stated = in_present_spelling(own, part);
    return std::ranges::all_of(own.as_object("a part"),
                               [&](const Json::Member& member) {
                                 const Json* found = stated.find(member.first);
                                 return same_part(member.second, found == nullptr ? Json() : *found);
                               }) &&
           std::ranges::all_of(stated.as_object("a part"), [&](const Json::Member& member) {
             return member.second.is_null() || own.find(member.first) != nullptr;
           });
  }
  if (own.is_array() && part.is_array())
    return std::ranges::equal(own.as_array("a part"), part.as_array("a part"), same_part);
  return formats::to_json_text(own) == formats::to_json_text(part);
}

}  // namespace alate::tokenizers
