// DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT's encoder without token types and pooler. Names and defaults
// are those of transformers' DistilBertModel.
#include <array>

#include "models/blocks/post_norm_heads.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using graph::Value;

constexpr PostNormNames kNames = {.query = "attention.q_lin",
                                  .key = "attention.k_lin",
                                  .value = "attention.v_lin",
                                  .attention_output = "attention.out_lin",
                                  .attention_norm = "sa_layer_norm",
                                  .up = "ffn.lin1",
                                  .down = "ffn.lin2",
                                  .output_norm = "output_layer_norm"};

PostNormConfig distilbert_config(const formats::Json& json) {
  PostNormConfig config = read_post_norm_config(json, {.family = "DistilBERT",
                                                       .types = 0,
                                                       .layers = 6,
                                                       .hidden_key = "dim",
                                                       .layers_key = "n_layers",
                                                       .heads_key = "n_heads",
                                                       .intermediate_key = "hidden_dim",
                                                       .activation_key = "activation"});
  config.epsilon = 1e-12;  // no setting
  config.names = kNames;
  config.layer_names.clear();
  for (std::int64_t i = 0; i < config.layers; ++i)
    config.layer_names.push_back("transformer.layer." + std::to_string(i) + ".");
  return config;
}

EncoderOutputs masked_language(PostNormEncoder& encoder, Value x) {
  const LanguageHead head{.source = "vocab_projector",
                          .dense = "vocab_transform",
                          .norm = "vocab_layer_norm",
                          .decoder = "vocab_projector",
                          .bias = "vocab_projector.bias",
                          .activation = encoder.config().activation};
  return {{"logits", encoder.language_logits(head, x)}};
}

EncoderOutputs sequence_logits(PostNormEncoder& encoder, Value x) {
  return first_token_logits(encoder, x, "pre_classifier", "relu", "classifier");
}

EncoderOutputs choice_logits(PostNormEncoder& encoder, Value x) {
  return first_token_logits(encoder, x, "pre_classifier", "relu", "classifier", 1);
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<distilbert_config, masked_language>},
    EncoderHead{"ForTokenClassification", with_encoder<distilbert_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<distilbert_config, sequence_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<distilbert_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<distilbert_config, choice_logits>, true},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "vocab_projector.weight"},
};

}  // namespace

Architecture distilbert() {
  return {.model_type = "distilbert",
          .class_name = "DistilBert",
          .prefix = "distilbert.",
          .limits = limits_of<distilbert_config>,
          .entries = kEncodes<encode_post_norm<distilbert_config>>,
          .base = {"Model", with_encoder<distilbert_config, base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "distilbert-base-uncased, multi-qa-distilbert-cos-v1",
          .also_read = "the common names of sizes (`hidden_size`) beside its own (`dim`)",
          .refused = "`position_embedding_type` other than `absolute`, `is_decoder`"};
}

}  // namespace alate::models
