#include "tokenizers/sources/tokenizer_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"

namespace alate::tokenizers {
namespace {

constexpr std::array<std::string_view, 7> kTokenRoles = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                         "pad_token", "cls_token", "mask_token"};

// Model types whose tokenizer has a class of its own, as far as the class is read here.
struct ModelTypeClass {
  std::string_view model_type, class_name;
};
constexpr std::array kModelTypeClasses = std::to_array<ModelTypeClass>({
    {"albert", "AlbertTokenizer"},
    {"bart", "RobertaTokenizer"},
    {"bert", "BertTokenizer"},
    {"bridgetower", "RobertaTokenizer"},
    {"blenderbot", "BlenderbotTokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"clip", "CLIPTokenizer"},
    {"clipseg", "CLIPTokenizer"},
    {"codegen", "GPT2Tokenizer"},
    {"convbert", "BertTokenizer"},
    {"data2vec-text", "RobertaTokenizer"},
    {"deberta", "DebertaTokenizer"},
    {"deberta-v2", "DebertaV2Tokenizer"},
    {"distilbert", "BertTokenizer"},
    {"electra", "BertTokenizer"},
    {"ernie", "BertTokenizer"},
    {"funnel", "FunnelTokenizer"},
    {"gemma", "GemmaTokenizer"},
    {"gemma2", "GemmaTokenizer"},
    {"gemma3", "GemmaTokenizer"},
    {"gemma3_text", "GemmaTokenizer"},
    {"gpt2", "GPT2Tokenizer"},
    {"gpt_neo", "GPT2Tokenizer"},
    {"gptj", "GPT2Tokenizer"},
    {"gte", "XLMRobertaTokenizer"},
    {"ibert", "RobertaTokenizer"},
    {"jina_embeddings_v3", "XLMRobertaTokenizer"},
    {"layoutlm", "BertTokenizer"},
    {"lilt", "RobertaTokenizer"},
    {"longformer", "RobertaTokenizer"},
    {"marian", "MarianTokenizer"},
    {"mbart", "MBartTokenizer"},
    {"mbart50", "MBart50Tokenizer"},
    {"megatron-bert", "BertTokenizer"},
    {"mobilebert", "MobileBertTokenizer"},
    {"mpnet", "MPNetTokenizer"},
    {"mra", "RobertaTokenizer"},
    {"mt5", "T5Tokenizer"},
    {"nezha", "BertTokenizer"},
    {"nllb", "NllbTokenizer"},
    {"nllb-moe", "NllbTokenizer"},
    {"nomic_bert", "BertTokenizer"},
    {"opt", "GPT2Tokenizer"},
    {"owlvit", "CLIPTokenizer"},
    {"pegasus", "PegasusTokenizer"},
    {"phi", "GPT2Tokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen2_moe", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"qwen3_moe", "Qwen2Tokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"roberta-prelayernorm", "RobertaTokenizer"},
    {"squeezebert", "BertTokenizer"},
    {"starcoder2", "GPT2Tokenizer"},
    {"switch_transformers", "T5Tokenizer"},
    {"t5", "T5Tokenizer"},
    {"whisper", "WhisperTokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
    {"xmod", "XLMRobertaTokenizer"},
    {"yoso", "AlbertTokenizer"},
});

// Model types that have no class of their own in transformers, which ignores the one that tokenizer_config.json states
// for them: it is often wrong.
constexpr auto kGenericTypes = std::to_array<std::string_view>({"arctic",
                                                                "aria",
                                                                "beam",
                                                                "bigbird_pegasus",
                                                                "canary",
                                                                "chatlm",
                                                                "cohere_asr",
                                                                "ernie4_5",
                                                                "ernie4_5_moe",
                                                                "flex_olmo",
                                                                "fuyu",
                                                                "glm",
                                                                "glm4",
                                                                "glm4_moe",
                                                                "glm4_moe_lite",
                                                                "glm4v",
                                                                "glm4v_moe",
                                                                "glm_image",
                                                                "glmasr",
                                                                "got_ocr2",
                                                                "gpt_bigcode",
                                                                "granite",
                                                                "granitemoe",
                                                                "granitemoehybrid",
                                                                "granitemoeshared",
                                                                "h2ovl_chat",
                                                                "hyperclovax",
                                                                "hyperclovax_vlm",
                                                                "internlm2",
                                                                "internlm3",
                                                                "iquestcoder",
                                                                "jamba",
                                                                "kimi_k25",
                                                                "kimi_linear",
                                                                "kosmos-2",
                                                                "llava",
                                                                "llava_next",
                                                                "mimo_v2_flash",
                                                                "minicpm3",
                                                                "minicpm_ocr",
                                                                "minicpmv",
                                                                "minicpmv4_6",
                                                                "minicpmv4_7",
                                                                "minimax_m2",
                                                                "ministral",
                                                                "ministral3",
                                                                "mistral",
                                                                "mistral3",
                                                                "mixtral",
                                                                "modernbert",
                                                                "modernbert-decoder",
                                                                "molmo",
                                                                "molmo2",
                                                                "nemotron",
                                                                "nystromformer",
                                                                "olmo2",
                                                                "olmo3",
                                                                "olmo_hybrid",
                                                                "opencua",
                                                                "openvla",
                                                                "paddleocr_vl",
                                                                "pegasus_x",
                                                                "persimmon",
                                                                "phi3",
                                                                "phi3_v",
                                                                "phimoe",
                                                                "pix2struct",
                                                                "pixtral",
                                                                "smolvlm",
                                                                "stablelm",
                                                                "step3_vl",
                                                                "umt5",
                                                                "vipllava",
                                                                "voxtral",
                                                                "xlm-roberta-xl"});

// Model types whose own class counts, whatever tokenizer_config.json states.
constexpr std::array<std::string_view, 1> kTrustedTypes = {"qwen2"};

// Searches among roles are linear.
constexpr std::size_t kMaxTokenRoles = 256;

constexpr std::array<std::string_view, 4> kGenericClasses = {"TokenizersBackend", "PreTrainedTokenizer",
                                                             "PreTrainedTokenizerFast", "PythonBackend"};

// Classes whose tokenizers give type ids to models.
constexpr std::array<std::string_view, 14> kClassesWithTypes = {"BertTokenizer",
                                                                "ConvBertTokenizer",
                                                                "DPRContextEncoderTokenizer",
                                                                "DPRQuestionEncoderTokenizer",
                                                                "DebertaTokenizer",
                                                                "DebertaV2Tokenizer",
                                                                "ElectraTokenizer",
                                                                "FNetTokenizer",
                                                                "LayoutLMTokenizer",
                                                                "LayoutLMv2Tokenizer",
                                                                "LxmertTokenizer",
                                                                "MarkupLMTokenizer",
                                                                "MobileBertTokenizer",
                                                                "SqueezeBertTokenizer"};

formats::Json read_json_object(const std::filesystem::path& folder, std::string_view name) {
  const std::filesystem::path path = folder / name;
  if (!base::is_there(path)) return {};
  formats::Json file = formats::parse_json(base::read_contained_file(folder, name), path.string());
  if (!file.is_object()) throw make_error(ErrorCode::corrupt, path.string(), " must be a JSON object");
  return file;
}

bool is_stated_token(const formats::Json& value) {
  return value.is_string() || (value.is_object() && value.find("content") != nullptr);
}

// A token as text, or as an object with its properties.
StatedToken read_stated_token(const formats::Json& value, bool special, const std::string& where) {
  StatedToken stated;
  AddedToken& token = stated.token;
  try {
    token.special = special;
    if (value.is_string()) {
      token.content = value.as_string("a token");
      return stated;
    }
    const formats::Json* content = value.find("content");
    if (content == nullptr) throw Error(ErrorCode::corrupt, "a token has no content");
    token.content = content->as_string("content");
    token.special = special || value.get_bool("special", false);
    token.single_word = value.get_bool("single_word", false);
    token.lstrip = value.get_bool("lstrip", false);
    token.rstrip = value.get_bool("rstrip", false);
    const formats::Json* normalized = value.find("normalized");
    if (normalized != nullptr && !normalized->is_null()) stated.normalized = normalized->as_bool("normalized");
  } catch (const Error& error) {
    throw make_error(ErrorCode::corrupt, where, ": an added or special token: ", error.message());
  }
  return stated;
}

std::int32_t read_token_id(std::string_view text, const std::string& where) {
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0)
    throw make_error(ErrorCode::corrupt, where, ": added_tokens_decoder has a key that is no id");
  return id;
}

std::string without_fast(std::string_view name) {
  if (name.ends_with("Fast")) name.remove_suffix(4);
  return std::string(name);
}

}  // namespace

StatedToken StatedToken::special(std::string_view content) {
  StatedToken stated;
  stated.token.content = content;
  stated.token.special = true;
  return stated;
}

AddedToken StatedToken::finished() const {
  AddedToken token_with_all = token;
  token_with_all.normalized = normalized.value_or(!token.special);
  return token_with_all;
}

TokenizerConfig TokenizerConfig::none(std::string_view where) {
  TokenizerConfig config;
  config.where_ = where;
  return config;
}

TokenizerConfig TokenizerConfig::read(const std::filesystem::path& folder) {
  TokenizerConfig config = none(folder.string());
  config.config_ = read_json_object(folder, "tokenizer_config.json");
  for (const auto role : kTokenRoles) {
    const formats::Json* value = config.config_.find(role);
    if (value == nullptr) continue;
    std::optional<StatedToken> token;
    if (!value->is_null()) token = read_stated_token(*value, false, config.where_);
    config.named_.emplace_back(role, std::move(token));
  }
  if (config.config_.is_object()) {  // roles of one model, such as "image_token"
    for (const auto& [key, value] : config.config_.as_object("tokenizer_config.json")) {
      if (key.ends_with("_token") && std::ranges::find(kTokenRoles, key) == kTokenRoles.end() && is_stated_token(value))
        config.named_.emplace_back(key, read_stated_token(value, false, config.where_));
    }
  }
  config.read_further(config.config_);
  if (const formats::Json* decoder = config.config_.find("added_tokens_decoder")) {
    if (!decoder->is_object())
      throw make_error(ErrorCode::corrupt, config.where_, ": added_tokens_decoder must be an object");
    for (const auto& [id, token] : decoder->as_object("added_tokens_decoder"))
      config.numbered_.insert_or_assign(read_token_id(id, config.where_),
                                        read_stated_token(token, false, config.where_));
  } else {
    config.read_special_tokens_map(read_json_object(folder, "special_tokens_map.json"));
    config.read_added_tokens(read_json_object(folder, "added_tokens.json"));
  }
  if (config.named_.size() > kMaxTokenRoles)
    throw make_error(ErrorCode::resource_exhausted, config.where_, " states ", config.named_.size(),
                     " special tokens by role; ", kMaxTokenRoles, " are allowed");
  config.choose_class(read_json_object(folder, "config.json"));
  return config;
}

void TokenizerConfig::read_further(const formats::Json& file) {
  for (const std::string_view key : {"extra_special_tokens", "additional_special_tokens"}) {
    const formats::Json* list = file.find(key);
    if (list == nullptr) continue;
    if (list->is_object()) {  // by role
      for (const auto& [role, token] : list->as_object(key)) {
        if (is_stated_token(token)) named_.emplace_back(role, read_stated_token(token, false, where_));
      }
      if (!list->as_object(key).empty()) return;
      continue;
    }
    if (!list->is_array() || list->as_array(key).empty()) continue;
    std::vector<StatedToken> tokens;
    for (const formats::Json& token : list->as_array(key)) {
      StatedToken stated = read_stated_token(token, true, where_);
      tokens.push_back(std::move(stated));
    }
    further_ = std::move(tokens);
    return;
  }
}

void TokenizerConfig::read_special_tokens_map(const formats::Json& file) {
  if (!file.is_object()) return;
  for (const auto& [key, value] : file.as_object("special_tokens_map.json")) {
    if (!key.ends_with("_token")) continue;
    std::optional<StatedToken> token;
    if (!value.is_null()) {
      token = read_stated_token(value, value.is_object(), where_);
    }
    if (named_.size() > kMaxTokenRoles) return;  // refused by the caller
    const auto known = std::ranges::find(named_, key, [](const auto& entry) { return entry.first; });
    if (known != named_.end()) {
      known->second = std::move(token);
    } else {
      named_.emplace_back(key, std::move(token));
    }
  }
  read_further(file);
}

void TokenizerConfig::read_added_tokens(const formats::Json& file) {
  if (!file.is_object()) return;
  std::unordered_set<std::string_view> specials;
  for (const auto& [role, token] : named_) {
    if (token) specials.insert(token->token.content);
  }
  if (further_) {
    for (const StatedToken& token : *further_) specials.insert(token.token.content);
  }
  for (const auto& [content, id] : file.as_object("added_tokens.json")) {
    const bool special = specials.contains(content);
    if (!id.is_integer() || id.as_int("id") < 0 || id.as_int("id") > std::numeric_limits<std::int32_t>::max())
      throw make_error(ErrorCode::corrupt, where_, ": added_tokens.json has a value that is no id");
    StatedToken stated = StatedToken::special(content);
    stated.token.special = special;
    stated.normalized = !special;
    numbered_.insert_or_assign(static_cast<std::int32_t>(id.as_int("id")), std::move(stated));
  }
}

void TokenizerConfig::choose_class(const formats::Json& model_config) {
  const auto text_of = [](const formats::Json& file, std::string_view key) {
    const formats::Json* value = file.find(key);
    return value != nullptr && value->is_string() ? value->as_string(key) : std::string();
  };
  const std::string model_type = text_of(model_config, "model_type");
  const auto* known = std::ranges::find(kModelTypeClasses, std::string_view(model_type), &ModelTypeClass::model_type);
  const std::string own = known == kModelTypeClasses.end() ? std::string() : std::string(known->class_name);
  class_name_ = without_fast(text_of(config_, "tokenizer_class"));
  if (class_name_.empty()) class_name_ = without_fast(text_of(model_config, "tokenizer_class"));
  if (class_name_.empty() || std::ranges::find(kTrustedTypes, model_type) != kTrustedTypes.end()) class_name_ = own;
  is_generic_ = std::ranges::find(kGenericClasses, class_name_) != kGenericClasses.end() ||
                std::ranges::find(kGenericTypes, model_type) != kGenericTypes.end();
  if (is_generic_) class_name_.clear();
}

bool TokenizerConfig::get_bool(std::string_view key, bool otherwise) const {
  const formats::Json* value = config_.find(key);
  if (value == nullptr || value->is_null()) return otherwise;
  if (!value->is_bool()) throw make_error(ErrorCode::corrupt, where_, ": ", key, " must be true or false");
  return value->as_bool(key);
}

std::string TokenizerConfig::get_string(std::string_view key, std::string_view otherwise) const {
  const formats::Json* value = config_.find(key);
  if (value == nullptr || value->is_null()) return std::string(otherwise);
  if (!value->is_string()) throw make_error(ErrorCode::corrupt, where_, ": ", key, " must be a text");
  return value->as_string(key);
}

std::int64_t TokenizerConfig::get_int(std::string_view key, std::int64_t otherwise) const {
  const formats::Json* value = config_.find(key);
  if (value == nullptr || value->is_null()) return otherwise;
  if (!value->is_integer()) throw make_error(ErrorCode::corrupt, where_, ": ", key, " must be a whole number");
  return value->as_int(key);
}

std::optional<Side> TokenizerConfig::truncation_side() const {
  const std::string side = get_string("truncation_side", "");
  if (side == "left") return Side::left;
  if (side == "right") return Side::right;
  if (config_.find_value("truncation_side") == nullptr) return std::nullopt;
  throw make_error(ErrorCode::corrupt, where_, ": truncation_side of tokenizer_config.json must be left or right, not ",
                   formats::quoted_name(side));
}

std::optional<bool> TokenizerConfig::gives_type_ids() const {
  if (const formats::Json* names = config_.find_value("model_input_names")) {
    if (!names->is_array()) throw make_error(ErrorCode::corrupt, where_, ": model_input_names must be a list of names");
    return std::ranges::any_of(names->as_array("model_input_names"), [](const formats::Json& name) {
      return name.is_string() && name.as_string("a name") == "token_type_ids";
    });
  }
  if (class_name_.empty()) return is_generic_ ? std::optional(false) : std::nullopt;
  return std::ranges::find(kClassesWithTypes, class_name_) != kClassesWithTypes.end();
}

bool TokenizerConfig::states_bos_or_eos() const {
  return config_.find("add_bos_token") != nullptr || config_.find("add_eos_token") != nullptr;
}

std::vector<NamedToken> TokenizerConfig::named_tokens(std::span<const NamedToken> defaults) const {
  std::vector<NamedToken> tokens;
  const auto add = [&](std::string_view role) {
    const auto stated = std::ranges::find(named_, role, [](const auto& entry) { return entry.first; });
    if (stated != named_.end()) {
      if (stated->second) tokens.push_back({std::string(role), *stated->second});
      return;
    }
    const auto usual = std::ranges::find(defaults, role, &NamedToken::role);
    if (usual != defaults.end()) tokens.push_back(*usual);
  };
  for (const std::string_view role : kTokenRoles) add(role);
  for (const auto& [role, token] : named_) {
    if (std::ranges::find(kTokenRoles, role) == kTokenRoles.end() && token) tokens.push_back({role, *token});
  }
  // A token that is stated with an id has the properties stated there.
  std::unordered_map<std::string_view, const StatedToken*> numbered;
  for (const auto& [id, token] : numbered_) numbered.insert_or_assign(token.token.content, &token);
  for (NamedToken& named : tokens) {
    const auto found = numbered.find(named.token.token.content);
    if (found != numbered.end()) named.token = *found->second;
  }
  return tokens;
}

std::vector<AddedToken> TokenizerConfig::added_tokens(std::span<const NamedToken> named,
                                                      std::span<const StatedToken> further) const {
  return in_order(numbered_, named, further);
}

std::vector<AddedToken> TokenizerConfig::in_order(const std::map<std::int32_t, StatedToken>& stated_numbered,
                                                  std::span<const NamedToken> named,
                                                  std::span<const StatedToken> further) const {
  std::vector<AddedToken> tokens;
  std::unordered_set<std::string_view> numbered, roles;
  for (const NamedToken& entry : named) roles.insert(entry.token.token.content);
  for (const auto& [id, token] : stated_numbered) {
    StatedToken stated = token;
    stated.token.special = stated.token.special || roles.contains(token.token.content);
    numbered.insert(token.token.content);
    tokens.push_back(stated.finished());
  }
  for (const NamedToken& entry : named) {
    if (numbered.contains(entry.token.token.content)) continue;
    StatedToken stated = entry.token;
    stated.token.special = true;
    tokens.push_back(stated.finished());
  }
  for (const StatedToken& token : further) {
    if (!numbered.contains(token.token.content)) tokens.push_back(token.finished());
  }
  return tokens;
}

std::vector<AddedToken> TokenizerConfig::added_to(std::vector<NumberedToken> of_file, std::span<const NamedToken> named,
                                                  std::span<const StatedToken> usual_further,
                                                  bool builds_itself) const {
  std::map<std::int32_t, StatedToken> numbered = numbered_;
  // Of one id, the file's token; with an added_tokens_decoder the file's tokens do not count at all.
  if (!states_numbered_tokens()) {
    for (const NumberedToken& entry : of_file) {
      if (builds_itself) {
        numbered.insert_or_assign(entry.id, StatedToken{entry.token, entry.token.normalized});
      } else {
        numbered.erase(entry.id);
      }
    }
  }
  const std::vector<StatedToken> further =
      further_.value_or(std::vector<StatedToken>(usual_further.begin(), usual_further.end()));
  if (builds_itself) return in_order(numbered, named, further);
  std::vector<AddedToken> tokens;
  std::unordered_set<std::string> known;
  for (NumberedToken& entry : of_file) {
    known.insert(entry.token.content);
    tokens.push_back(std::move(entry.token));
  }
  std::vector<NamedToken> new_named;
  for (const NamedToken& entry : named) {
    if (!known.contains(entry.token.token.content)) new_named.push_back(entry);
  }
  std::vector<StatedToken> new_further;
  for (const StatedToken& token : further) {
    if (!known.contains(token.token.content)) new_further.push_back(token);
  }
  std::ranges::move(in_order(numbered, new_named, new_further), std::back_inserter(tokens));
  return tokens;
}

}  // namespace alate::tokenizers
