// Bodies and answers of KServe's routes as JSON Schema.
#pragma once

#include <string_view>

namespace alate::server::kserve_schemas {

inline constexpr std::string_view kServer = R"({
  "type": "object",
  "required": ["name", "version", "extensions"],
  "properties": {
    "name": {"type": "string"},
    "version": {"type": "string"},
    "extensions": {"type": "array", "items": {"type": "string"}}
  }
})";

inline constexpr std::string_view kLive = R"({
  "type": "object", "required": ["live"], "properties": {"live": {"type": "boolean"}}
})";

inline constexpr std::string_view kReady = R"({
  "type": "object", "required": ["ready"], "properties": {"ready": {"type": "boolean"}}
})";

inline constexpr std::string_view kModelReady = R"({
  "type": "object",
  "required": ["name", "ready"],
  "properties": {"name": {"type": "string"}, "ready": {"type": "boolean"}}
})";

inline constexpr std::string_view kModel = R"({
  "type": "object",
  "required": ["name", "versions", "platform", "inputs", "outputs"],
  "properties": {
    "name": {"type": "string"},
    "versions": {"type": "array", "items": {"type": "string"}},
    "platform": {"type": "string"},
    "inputs": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "datatype", "shape"],
      "properties": {"name": {"type": "string"}, "datatype": {"type": "string"},
                     "shape": {"type": "array", "items": {"type": "integer"}}}
    }},
    "outputs": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "datatype", "shape"],
      "properties": {"name": {"type": "string"}, "datatype": {"type": "string"},
                     "shape": {"type": "array", "items": {"type": "integer"}}}
    }},
    "parameters": {"type": "object", "description": "An addition of Alate: tasks, such as embed and rerank.",
      "properties": {"tasks": {"type": "array", "items": {"type": "string"}}}}
  }
})";

inline constexpr std::string_view kStatistics = R"({
  "type": "object",
  "required": ["model_stats"],
  "properties": {
    "model_stats": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "version", "last_inference", "inference_count", "execution_count", "inference_stats",
                   "batch_stats"],
      "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "last_inference": {"type": "integer", "description": "Milliseconds since 1970; 0: none."},
        "inference_count": {"type": "integer", "description": "Texts or rows of requests that succeeded."},
        "execution_count": {"type": "integer", "description": "Batches that were computed."},
        "inference_stats": {
          "type": "object",
          "description": "Requests, each with count and ns. compute_input is tokenizing, compute_output the answer's text.",
          "required": ["success", "fail", "queue", "compute_input", "compute_infer", "compute_output"],
          "properties": {
            "success": {"type": "object", "required": ["count", "ns"],
              "properties": {"count": {"type": "integer"}, "ns": {"type": "integer"}}},
            "fail": {"type": "object", "required": ["count", "ns"],
              "properties": {"count": {"type": "integer"}, "ns": {"type": "integer"}}},
            "queue": {"type": "object", "required": ["count", "ns"],
              "properties": {"count": {"type": "integer"}, "ns": {"type": "integer"}}},
            "compute_input": {"type": "object", "required": ["count", "ns"],
              "properties": {"count": {"type": "integer"}, "ns": {"type": "integer"}}},
            "compute_infer": {"type": "object", "required": ["count", "ns"],
              "properties": {"count": {"type": "integer"}, "ns": {"type": "integer"}}},
            "compute_output": {"type": "object", "required": ["count", "ns"],
              "properties": {"count": {"type": "integer"}, "ns": {"type": "integer"}}}
          }
        },
        "batch_stats": {"type": "array", "items": {
          "type": "object",
          "required": ["batch_size", "compute_infer"],
          "properties": {"batch_size": {"type": "integer"}, "compute_infer": {"type": "object"}}
        }}
      }
    }}
  }
})";

inline constexpr std::string_view kInferBody = R"({
  "type": "object",
  "examples": [
    {"inputs": [{"name": "text", "shape": [2], "datatype": "BYTES", "data": ["a first text", "a second one"]}]},
    {"inputs": [{"name": "input_ids", "shape": [1, 4], "datatype": "INT64", "data": [101, 7592, 2088, 102]}],
     "outputs": [{"name": "last_hidden_state"}]},
    {"inputs": [{"name": "query", "shape": [1], "datatype": "BYTES", "data": ["a question"]},
                {"name": "text", "shape": [2], "datatype": "BYTES", "data": ["a first text", "a second one"]}]}
  ],
  "required": ["inputs"],
  "properties": {
    "id": {"type": "string", "description": "Comes back with the answer."},
    "model_version": {"type": "string", "nullable": false, "description": "1, the only one; as in the path."},
    "parameters": {
      "type": "object",
      "properties": {
        "binary_data_output": {"type": "boolean", "default": false, "description": "For outputs that do not say."},
        "truncate": {"type": "boolean", "default": true,
          "description": "An addition of Alate: whether texts over the model's length are cut, or refused."},
        "task": {"type": "string", "enum": ["embed", "rerank", "classify", "recognize", "redact", "answer"],
          "description": "An addition of Alate: what is done with texts; absent: rerank where there is a query, else what the model is for."},
        "raw_scores": {"type": "boolean", "default": false,
          "description": "An addition of Alate: the model's own numbers of rerank and classify."},
        "multi_label": {"type": "boolean", "description": "An addition of Alate: as in /api/classify."},
        "pseudonyms": {"type": "boolean", "default": false, "description": "An addition of Alate: as in /api/redact."},
        "backend": {"type": "string", "maxLength": 64,
          "description": "An addition of Alate: where to compute, NAME or NAME:DEVICE."}
      }
    },
    "inputs": {
      "type": "array",
      "minItems": 1,
      "maxItems": 16,
      "description": "Either text (BYTES), with the query of a reranker, a question or the schema of an extraction (one text) or the labels of zero-shot classification or of a GLiNER model, or input_ids with those of attention_mask, token_type_ids and )"
                                               R"(position_ids that are wanted; at most 65,536 tokens.",
      "items": {
        "type": "object",
        "required": ["name", "datatype", "shape"],
        "properties": {
          "name": {"type": "string", "enum": ["text", "query", "question", "labels", "schema", "input_ids", "attention_mask", "token_type_ids", "position_ids"]},
          "datatype": {"type": "string", "enum": ["BYTES", "INT64", "INT32"]},
          "shape": {"type": "array", "maxItems": 8, "items": {"type": "integer", "minimum": 0},
            "description": "[n] or [n, 1] for texts, else [batch, length]."},
          "parameters": {
            "type": "object",
            "properties": {"binary_data_size": {"type": "integer", "minimum": 0,
              "description": "Instead of data: so many bytes behind the JSON, in the order of the inputs."}}
          },
          "data": {"type": "array", "description": "The elements in row-major order, flat or nested as the shape is.",
            "items": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array"}]}}
        }
      }
    },
    "outputs": {
      "type": "array",
      "maxItems": 16,
      "description": "Those that are wanted; absent or empty: all.",
      "items": {
        "type": "object",
        "required": ["name"],
        "properties": {
          "name": {"type": "string"},
          "parameters": {"type": "object", "properties": {"binary_data": {"type": "boolean"}}}
        }
      }
    }
  }
})";

inline constexpr std::string_view kInferAnswer = R"({
  "type": "object",
  "required": ["model_name", "model_version", "outputs"],
  "properties": {
    "model_name": {"type": "string"},
    "model_version": {"type": "string"},
    "id": {"type": "string"},
    "parameters": {"type": "object",
      "properties": {"truncated": {"type": "integer", "description": "How many texts were cut, where any was."}}},
    "outputs": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "datatype", "shape"],
      "properties": {
        "name": {"type": "string"},
        "datatype": {"type": "string", "enum": ["FP32", "BYTES"]},
        "shape": {"type": "array", "items": {"type": "integer"}},
        "parameters": {"type": "object", "properties": {"binary_data_size": {"type": "integer"}}},
        "data": {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}}
      }
    }}
  }
})";

inline constexpr std::string_view kIndexBody = R"({
  "type": "object",
  "properties": {"ready": {"type": "boolean", "default": false, "description": "Only models that are loaded."}}
})";

inline constexpr std::string_view kIndex = R"({
  "type": "array",
  "items": {
    "type": "object",
    "required": ["name", "version", "state", "reason"],
    "properties": {
      "name": {"type": "string"},
      "version": {"type": "string"},
      "state": {"type": "string", "enum": ["READY", "UNAVAILABLE"]},
      "reason": {"type": "string"}
    }
  }
})";

inline constexpr std::string_view kLoadBody = R"({
  "type": "object",
  "properties": {"parameters": {"type": "object", "additionalProperties": false, "description": "Must be empty."}}
})";

inline constexpr std::string_view kUnloadBody = R"({
  "type": "object",
  "properties": {"parameters": {"type": "object", "description": "Taken and not used."}}
})";

inline constexpr std::string_view kNothing = R"({"type": "object"})";

}  // namespace alate::server::kserve_schemas
