// RoBERTa (Liu et al. 2019, arXiv:1907.11692), XLM-RoBERTa (Conneau et al. 2019, arXiv:1911.02116), CamemBERT
// (Martin et al. 2019, arXiv:1911.03894) and data2vec for text (Baevski et al. 2022, arXiv:2202.03555): BERT's encoder
// with positions counted past padding, and heads of their own. Names and defaults are those of transformers'
// RobertaModel, XLMRobertaModel, CamembertModel and Data2VecTextModel.
#include <array>

#include "models/blocks/post_norm_heads.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

PostNormConfig roberta_config(const formats::Json& config) {
  const bool is_first = config.get_string("model_type", "") == "roberta";
  return read_post_norm_config(config, {.family = "RoBERTa", .vocabulary = is_first ? 50265 : 30522});
}

EncoderLimits roberta_limits(const formats::Json& json) {
  return counted_past_padding(post_norm_limits(roberta_config(json)), json);
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<roberta_config, roberta_language_logits>},
    EncoderHead{"ForTokenClassification", with_encoder<roberta_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<roberta_config, roberta_sequence_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<roberta_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<roberta_config, pooled_choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "lm_head.decoder.weight"},
};

Architecture relative(std::string_view model_type, std::string_view class_name, std::string_view examples) {
  return {.model_type = model_type,
          .class_name = class_name,
          .prefix = "roberta.",
          .limits = roberta_limits,
          .entries = kEncodes<encode_post_norm<roberta_config>>,
          .base = {"Model", with_encoder<roberta_config, base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = examples,
          .refused = "`position_embedding_type` other than `absolute`, `is_decoder`"};
}

}  // namespace

Architecture roberta() { return relative("roberta", "Roberta", "roberta-base, roberta-large-mnli"); }

Architecture xlm_roberta() {
  return relative("xlm-roberta", "XLMRoberta", "xlm-roberta-base, bge-m3, multilingual-e5-base");
}

Architecture camembert() { return relative("camembert", "Camembert", "camembert-base, sentence-camembert-base"); }

Architecture data2vec_text() {
  Architecture data2vec = relative("data2vec-text", "Data2VecText", "data2vec-text-base");
  data2vec.prefix = "data2vec_text.";
  return data2vec;
}

}  // namespace alate::models
