// The common interface of encoder architectures: packed tokens in, a row for each token out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "graph/builder.h"
#include "models/weights/weights.h"

namespace alate::models {

/// The parameters of every encoder's graph, in this order; all i32.
struct EncoderInputs {
  graph::Value ids, type_ids, positions;  // [tokens]
  graph::Value starts, lengths;           // [sequences]: each sequence's first token and its number of tokens
  graph::Value key_lengths;  // [sequences]: leading tokens visible as keys; later ones attend, but are masked as keys
  graph::Value first;        // [sequences]: the token that stands for the sequence ([CLS])
  graph::Value pool_starts, pool_lengths;  // [sequences]: the tokens that are pooled
  graph::Value pad_index;                  // [sequences, longest]
  graph::Value unpad_index;                // [tokens, 2]
  Dim tokens, sequences, longest;
};

/// Declares them.
EncoderInputs declare_encoder_inputs(graph::Builder& b);

/// An output of forward. Its rows are tokens or sequences.
struct EncoderOutput {
  std::string_view name;  // as `transformers` names it
  graph::Value value;
};

/// Limits that callers of the graph must know.
struct EncoderLimits {
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;
  std::int64_t types = 0;
  std::int64_t hidden_size = 0;
};

struct BuiltEncoder {
  graph::Value last_hidden_state;      // [tokens, hidden]
  std::vector<EncoderOutput> outputs;  // of forward with the folder's head
};

/// Whether `forward`'s head is built too, or only the base model.
enum class HeadChoice { of_folder, none };

struct Architecture {
  std::string_view model_type;  // of config.json
  std::string_view prefix;      // before the base model's weight names in checkpoints with a head
  EncoderLimits (*limits)(const formats::Json& config);
  BuiltEncoder (*build)(graph::Builder& b, const formats::Json& config, Weights& weights, const EncoderInputs& inputs,
                        HeadChoice head);
  std::vector<std::string_view> (*heads)();  // the classes in `architectures` of config.json whose logits are built
  std::string_view examples;                 // models of this architecture that people know
};

/// All that can be built, in the order of the documentation.
std::span<const Architecture> architectures();

/// The architecture of a config.json. Throws unsupported naming the model_type.
const Architecture& find_architecture(const formats::Json& config);

/// `name` of transformers' ACT2FN applied to x. Throws unsupported naming it.
graph::Value activate(graph::Builder& b, std::string_view name, graph::Value x);

// The architectures, one file each.
std::vector<std::string_view> bert_heads();
EncoderLimits bert_limits(const formats::Json& config);
BuiltEncoder build_bert(graph::Builder& b, const formats::Json& config, Weights& weights, const EncoderInputs& inputs,
                        HeadChoice head);

}  // namespace alate::models
