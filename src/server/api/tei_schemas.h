// Bodies and answers of text-embeddings-inference's routes as JSON Schema.
#pragma once

#include <string_view>

#include "server/schema/joined.h"

namespace alate::server::tei_schemas {

/// Parts that several schemas share.
namespace parts {

inline constexpr std::string_view kIdsAnyOf = R"(
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 2147483647}},
        {"type": "array", "items":
          {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 2147483647}}})";

inline constexpr std::string_view kTextsAnyOf = R"(
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},)";

inline constexpr std::string_view kInputsBegin =
    R"(
  "type": "object",
  "required": ["inputs"],
  "properties": {
    "inputs": {
      "description": "One text or several; or token ids of one text or of several, )"
    R"(to which the model's special tokens are added where they are absent.",
      "anyOf": [)";

inline constexpr std::string_view kInputsEnd = R"(
      ]
    },
    "truncate": {"type": "boolean", "default": true,
      "description": "Whether texts over the model's length are cut, or refused with status 413."},
    "truncation_direction": {"type": "string", "enum": ["Left", "Right", "left", "right"],
      "description": "The end that is cut off; absent: as the tokenizer's file says, else right."},
    "prompt_name": {"type": "string", "description": "A prompt of the model that is put before each text."},)";

inline constexpr std::string_view kModelName = R"(
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "An addition of Alate; absent: the default model."}
  }
})";

inline constexpr std::string_view kEmbedExamples = R"({
  "examples": [{"inputs": ["a first text", "a second one"]}, {"inputs": [101, 7592, 102], "normalize": false}],)";

inline constexpr std::string_view kEmbedAllExamples = R"({
  "examples": [{"inputs": ["a first text", "a second one"]}],)";

inline constexpr std::string_view kVectorOptions = R"(
    "normalize": {"type": "boolean", "default": true, "description": "Vectors of length 1."},
    "dimensions": {"type": "integer", "minimum": 1, "maximum": 2147483647,
      "description": "Keeps the first so many numbers of each vector."},)";

inline constexpr std::string_view kModelBodyBegin = R"({
  "type": "object",
  "examples": [{"inputs": "a text"}, {"inputs": {"source_sentence": "a text", "sentences": ["another"]}},
    {"query": "a question", "texts": ["an answer", "another"]}],
  "properties": {
    "inputs": {
      "description": "Texts or token ids as for /embed, texts with masks for a masked language model without modules.json, the sentences to compare as for /similarity, or a question and the context that answers it. Of a reranker, query and texts as for /rerank take its place.",
      "anyOf": [)";

inline constexpr std::string_view kModelBodyRest = R"(,
        {
          "type": "object",
          "required": ["source_sentence", "sentences"],
          "properties": {
            "source_sentence": {"type": "string"},
            "sentences": {"type": "array", "items": {"type": "string"}}
          }
        },
        {
          "type": "object",
          "required": ["question", "context"],
          "properties": {"question": {"type": "string"}, "context": {"type": "string"}}
        }
      ]
    },
    "query": {"type": "string", "description": "Of a reranker."},
    "texts": {"type": "array", "items": {"type": "string"}, "description": "Of a reranker."},
    "raw_scores": {"type": "boolean", "default": false, "description": "Of a reranker."},
    "return_text": {"type": "boolean", "default": false, "description": "Of a reranker."},
    "truncate": {"type": "boolean", "default": true},
    "truncation_direction": {"type": "string", "enum": ["Left", "Right", "left", "right"]},
    "prompt_name": {"type": "string"},
    "normalize": {"type": "boolean", "default": true},
    "dimensions": {"type": "integer", "minimum": 1, "maximum": 2147483647},
    "parameters": {
      "type": "object",
      "description": "Of comparisons, recognizers, classifiers, masks and question answering.",
      "properties": {
        "function_to_apply": {"type": "string", "enum": ["sigmoid", "softmax", "none"]},
        "candidate_labels": {"type": "array", "maxItems": 4096, "items": {"type": "string", "minLength": 1},
          "description": "Labels to choose among, for a model of natural language inference."},
        "multi_label": {"type": "boolean"},
        "hypothesis_template": {"type": "string"},
        "aggregation_strategy": {"type": "string", "enum": ["none", "simple", "first", "average", "max"]},
        "stride": {"type": "integer", "minimum": 0, "maximum": 1048576},
        "ignore_labels": {"type": "array", "maxItems": 4096, "items": {"type": "string"}},
        "top_k": {"type": "integer", "minimum": 1, "maximum": 1000},
        "targets": {"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1}},
        "max_answer_len": {"type": "integer", "minimum": 1, "maximum": 2147483647},
        "max_seq_len": {"type": "integer", "minimum": 1, "maximum": 2147483647},
        "max_question_len": {"type": "integer", "minimum": 1, "maximum": 2147483647, "description": "Taken and not used."},
        "doc_stride": {"type": "integer", "minimum": 0, "maximum": 1048576},
        "handle_impossible_answer": {"type": "boolean", "default": false},
        "align_to_words": {"type": "boolean", "default": true},
        "truncate": {"type": "boolean", "default": true},
        "truncation_direction": {"type": "string", "enum": ["Left", "Right", "left", "right"]},
        "prompt_name": {"type": "string"}
      }
    },)";

inline constexpr std::string_view kDecodeBegin = R"({
  "type": "object",
  "examples": [{"ids": [101, 7592, 2088, 102]}],
  "required": ["ids"],
  "properties": {
    "ids": {
      "anyOf": [)";

inline constexpr std::string_view kDecodeEnd = R"(
      ]
    },
    "skip_special_tokens": {"type": "boolean", "default": true},)";

}  // namespace parts

inline constexpr std::string_view kEmbedBody =
    kJoined<parts::kEmbedExamples, parts::kInputsBegin, parts::kTextsAnyOf, parts::kIdsAnyOf, parts::kInputsEnd,
            parts::kVectorOptions, parts::kModelName>;

inline constexpr std::string_view kEmbedAllBody =
    kJoined<parts::kEmbedAllExamples, parts::kInputsBegin, parts::kTextsAnyOf, parts::kIdsAnyOf, parts::kInputsEnd,
            parts::kModelName>;

inline constexpr std::string_view kTokenVectors = R"({
  "type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
})";

inline constexpr std::string_view kSparse = R"({
  "type": "array", "items": {"type": "array", "items": {"type": "object", "required": ["index", "value"],
    "properties": {"index": {"type": "integer"}, "value": {"type": "number"}}}}
})";

inline constexpr std::string_view kVectors =
    R"({"type": "array", "items": {"type": "array", "items": {"type": "number"}}})";

inline constexpr std::string_view kNumbers = R"({"type": "array", "items": {"type": "number"}})";

inline constexpr std::string_view kTexts = R"({"type": "array", "items": {"type": "string"}})";

inline constexpr std::string_view kSimilarityBody = R"({
  "type": "object",
  "examples": [{"inputs": {"source_sentence": "a text", "sentences": ["another", "a third"]}}],
  "required": ["inputs"],
  "properties": {
    "inputs": {
      "type": "object",
      "required": ["source_sentence", "sentences"],
      "properties": {
        "source_sentence": {"type": "string"},
        "sentences": {"type": "array", "items": {"type": "string"}}
      }
    },
    "parameters": {
      "type": "object",
      "properties": {
        "truncate": {"type": "boolean", "default": true},
        "truncation_direction": {"type": "string", "enum": ["Left", "Right", "left", "right"]},
        "prompt_name": {"type": "string"}
      }
    },
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "An addition of Alate; absent: the default model."}
  }
})";

inline constexpr std::string_view kRerankBody = R"({
  "type": "object",
  "examples": [{"query": "a question", "texts": ["an answer", "another"]}],
  "required": ["query", "texts"],
  "properties": {
    "query": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "raw_scores": {"type": "boolean", "default": false,
      "description": "The model's own numbers instead of scores from 0 to 1."},
    "return_text": {"type": "boolean", "default": false},
    "truncate": {"type": "boolean", "default": true,
      "description": "Whether texts that are, with the query, over the model's length are cut, or refused with status 413."},
    "truncation_direction": {"type": "string", "enum": ["Left", "Right", "left", "right"],
      "description": "The end that is cut off; absent: as the tokenizer's file says, else right."},
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "An addition of Alate; absent: the default model, or the only one that is for this."}
  }
})";

inline constexpr std::string_view kRanks = R"({
  "type": "array",
  "items": {
    "type": "object",
    "required": ["index", "score"],
    "properties": {"index": {"type": "integer"}, "score": {"type": "number"}, "text": {"type": "string"}}
  }
})";

inline constexpr std::string_view kPredictBody = R"({
  "type": "object",
  "examples": [{"inputs": "a text"}, {"inputs": [["a first text"], ["a second one", "with its pair"]]}],
  "required": ["inputs"],
  "properties": {
    "inputs": {
      "description": "A text; a pair of texts as a list of two; or several, each as a list of one or two.",
      "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
      ]
    },
    "parameters": {
      "type": "object",
      "description": "Of recognizers, and as Hugging Face's clients write them, which then get a list for each text.",
      "properties": {
        "function_to_apply": {"type": "string", "enum": ["sigmoid", "softmax", "none"]},
        "top_k": {"type": "integer", "minimum": 1, "maximum": 2147483647},
        "candidate_labels": {"type": "array", "maxItems": 4096, "items": {"type": "string", "minLength": 1},
          "description": "Labels to choose among, for a model of natural language inference."},
        "multi_label": {"type": "boolean"},
        "hypothesis_template": {"type": "string"},
        "aggregation_strategy": {"type": "string", "enum": ["none", "simple", "first", "average", "max"]},
        "stride": {"type": "integer", "minimum": 0, "maximum": 1048576},
        "ignore_labels": {"type": "array", "maxItems": 4096, "items": {"type": "string"}}
      }
    },
    "raw_scores": {"type": "boolean", "default": false,
      "description": "The model's own numbers instead of scores from 0 to 1."},
    "truncate": {"type": "boolean", "default": true,
      "description": "Whether texts over the model's length are cut, or refused with status 413."},
    "truncation_direction": {"type": "string", "enum": ["Left", "Right", "left", "right"],
      "description": "The end that is cut off; absent: as the tokenizer's file says, else right."},
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "An addition of Alate; absent: the default model, or the only one that is for this."}
  }
})";

inline constexpr std::string_view kPredictions = R"({
  "anyOf": [
    {"type": "array", "items": {"type": "object", "required": ["label", "score"],
      "properties": {"label": {"type": "string"}, "score": {"type": "number"}}}},
    {"type": "array", "items": {"type": "array", "items": {"type": "object", "required": ["label", "score"],
      "properties": {"label": {"type": "string"}, "score": {"type": "number"}}}}},
    {"type": "array", "items": {"type": "object", "required": ["score", "word", "start", "end"],
      "properties": {"entity_group": {"type": "string"}, "entity": {"type": "string"}, "index": {"type": "integer"},
        "score": {"type": "number"}, "word": {"type": "string"}, "start": {"type": "integer"}, "end": {"type": "integer"}}}},
    {"type": "array", "items": {"type": "array", "items": {"type": "object", "required": ["score", "word", "start", "end"],
      "properties": {"entity_group": {"type": "string"}, "entity": {"type": "string"}, "index": {"type": "integer"},
        "score": {"type": "number"}, "word": {"type": "string"}, "start": {"type": "integer"}, "end": {"type": "integer"}}}}}
  ]
})";

inline constexpr std::string_view kModelBody =
    kJoined<parts::kModelBodyBegin, parts::kTextsAnyOf, parts::kIdsAnyOf, parts::kModelBodyRest, parts::kModelName>;

inline constexpr std::string_view kModelAnswer = R"({
  "anyOf": [
    {"type": "array", "items": {"type": "object", "required": ["score", "token", "token_str", "sequence"],
      "properties": {"score": {"type": "number"}, "token": {"type": "integer"}, "token_str": {"type": "string"},
        "sequence": {"type": "string"}}}},
    {"type": "array", "description": "Of several masks or texts", "items": {"type": "array"}},
    {"type": "object", "required": ["answer", "score", "start", "end"], "properties": {"answer": {"type": "string"},
      "score": {"type": "number"}, "start": {"type": "integer"}, "end": {"type": "integer"}}},
    {"type": "array", "items": {"type": "object", "required": ["answer", "score", "start", "end"],
      "properties": {"answer": {"type": "string"}, "score": {"type": "number"}, "start": {"type": "integer"},
        "end": {"type": "integer"}}}},
    {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    {"type": "array", "items": {"type": "number"}},
    {"type": "array", "items": {"type": "object", "required": ["index", "score"],
      "properties": {"index": {"type": "integer"}, "score": {"type": "number"}, "text": {"type": "string"}}}},
    {"type": "array", "items": {"type": "object", "required": ["label", "score"],
      "properties": {"label": {"type": "string"}, "score": {"type": "number"}}}},
    {"type": "array", "items": {"type": "array", "items": {"type": "object", "required": ["label", "score"],
      "properties": {"label": {"type": "string"}, "score": {"type": "number"}}}}},
    {"type": "array", "items": {"type": "object", "required": ["score", "word", "start", "end"],
      "properties": {"entity_group": {"type": "string"}, "entity": {"type": "string"}, "index": {"type": "integer"},
        "score": {"type": "number"}, "word": {"type": "string"}, "start": {"type": "integer"}, "end": {"type": "integer"}}}}
  ]
})";

inline constexpr std::string_view kTokenizeBody = R"({
  "type": "object",
  "examples": [{"inputs": ["a first text", "a second one"]}],
  "required": ["inputs"],
  "properties": {
    "inputs": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "add_special_tokens": {"type": "boolean", "default": true},
    "prompt_name": {"type": "string", "description": "A prompt of the model that is put before each text."},
    "model": {"type": "string", "minLength": 1, "nullable": false, "description": "An addition of Alate; absent: the default model."}
  }
})";

inline constexpr std::string_view kTokens = R"({
  "type": "array",
  "items": {
    "type": "array",
    "items": {
      "type": "object",
      "required": ["id", "text", "special", "start", "stop"],
      "properties": {
        "id": {"type": "integer"},
        "text": {"type": "string"},
        "special": {"type": "boolean"},
        "start": {"type": ["integer", "null"]},
        "stop": {"type": ["integer", "null"]}
      }
    }
  }
})";

inline constexpr std::string_view kDecodeBody =
    kJoined<parts::kDecodeBegin, parts::kIdsAnyOf, parts::kDecodeEnd, parts::kModelName>;

inline constexpr std::string_view kInfo = R"({
  "type": "object",
  "required": ["model_id", "model_dtype", "model_type", "max_input_length", "version"],
  "properties": {
    "model_id": {"type": "string"},
    "model_sha": {"type": ["string", "null"]},
    "model_dtype": {"type": "string"},
    "served_model_name": {"type": "string"},
    "model_type": {
      "type": "object",
      "description": "What the model is for: one of these.",
      "properties": {
        "recognizer": {"type": "object",
          "properties": {"id2label": {"type": "object"}, "label2id": {"type": "object"}}},
        "classifier": {"type": "object",
          "properties": {"id2label": {"type": "object"}, "label2id": {"type": "object"}}},
        "answerer": {"type": "object"},
        "embedding": {"type": "object", "properties": {"pooling": {"type": "string"}}},
        "reranker": {"type": "object",
          "properties": {"id2label": {"type": "object"}, "label2id": {"type": "object"}}}
      }
    },
    "max_concurrent_requests": {"type": "integer"},
    "max_input_length": {"type": "integer"},
    "max_batch_tokens": {"type": "integer"},
    "max_batch_requests": {"type": ["integer", "null"]},
    "max_client_batch_size": {"type": "integer"},
    "auto_truncate": {"type": "boolean"},
    "tokenization_workers": {"type": "integer"},
    "version": {"type": "string"},
    "sha": {"type": ["string", "null"]},
    "docker_label": {"type": ["string", "null"]}
  }
})";

}  // namespace alate::server::tei_schemas
