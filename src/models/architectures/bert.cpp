// BERT: Devlin and others 2018, arXiv:1810.04805, and ERNIE (Sun et al. 2019, arXiv:1904.09223). Names and defaults are
// those of transformers' BertModel and ErnieModel.
#include <array>

#include "alate/error.h"
#include "models/blocks/post_norm_heads.h"
#include "models/encoder.h"

namespace alate::models {
namespace {

using graph::Value;

PostNormConfig bert_config(const formats::Json& json) {
  PostNormConfig config = read_post_norm_config(json, {.family = "BERT"});
  if (json.get_string("model_type", "") == "ernie" && json.get_bool("use_task_id", false)) {
    config.tasks = json.get_int("task_type_vocab_size", 3);
    if (config.tasks < 1 || config.tasks > config.vocabulary)
      throw make_error(ErrorCode::corrupt, "config.json: task_type_vocab_size is ", config.tasks);
  }
  return config;
}

Value language_logits(PostNormEncoder& encoder, Value x) {
  return encoder.language_logits({.source = "cls.predictions",
                                  .dense = "cls.predictions.transform.dense",
                                  .norm = "cls.predictions.transform.LayerNorm",
                                  .decoder = "cls.predictions.decoder",
                                  .bias = "cls.predictions.bias",
                                  .activation = encoder.config().activation},
                                 x);
}

EncoderOutputs masked_language(PostNormEncoder& encoder, Value x) { return {{"logits", language_logits(encoder, x)}}; }

Value sentence_logits(PostNormEncoder& encoder, Value x) {
  const Value pooled = encoder.pooler(x);
  encoder.scope().b.set_source("cls.seq_relationship");
  return encoder.head_layer("cls.seq_relationship", pooled, encoder.config().hidden, 2);
}

EncoderOutputs next_sentence(PostNormEncoder& encoder, Value x) { return {{"logits", sentence_logits(encoder, x)}}; }

EncoderOutputs pre_training(PostNormEncoder& encoder, Value x) {
  return {{"prediction_logits", language_logits(encoder, x)}, {"seq_relationship_logits", sentence_logits(encoder, x)}};
}

constexpr std::array kHeads = {
    EncoderHead{"ForMaskedLM", with_encoder<bert_config, masked_language>},
    EncoderHead{"ForTokenClassification", with_encoder<bert_config, token_logits>},
    EncoderHead{"ForSequenceClassification", with_encoder<bert_config, pooled_logits>},
    EncoderHead{"ForQuestionAnswering", with_encoder<bert_config, span_logits>},
    EncoderHead{"ForMultipleChoice", with_encoder<bert_config, pooled_choice_logits>, true},
    EncoderHead{"ForNextSentencePrediction", with_encoder<bert_config, next_sentence>},
    EncoderHead{"ForPreTraining", with_encoder<bert_config, pre_training>},
};

constexpr std::array kTied = {
    TiedWeights{"embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
};

}  // namespace

Architecture bert() {
  return {.model_type = "bert",
          .class_name = "Bert",
          .prefix = "bert.",
          .limits = limits_of<bert_config>,
          .entries = kEncodes<encode_post_norm<bert_config>>,
          .base = {"Model", with_encoder<bert_config, base_outputs>},
          .heads = kHeads,
          .tied = kTied,
          .examples = "all-MiniLM-L6-v2, bge-small-en-v1.5, e5-base-v2, mxbai-embed-large-v1",
          .also_read = "norms named `gamma` and `beta`",
          .refused = "`position_embedding_type` other than `absolute`, `is_decoder`"};
}

Architecture ernie() {
  Architecture ernie = bert();
  ernie.model_type = "ernie";
  ernie.class_name = "Ernie";
  ernie.prefix = "ernie.";
  ernie.examples = "ernie-3.0-base-zh";
  ernie.also_read = "`use_task_id`: every token has task 0, as in transformers where none is given";
  return ernie;
}

}  // namespace alate::models
