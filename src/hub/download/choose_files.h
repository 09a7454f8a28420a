// The choice of a model's files that a run needs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hub/download/remote_model.h"

namespace alate::hub {

struct FileChoice {
  std::vector<std::string> variants = {};  // "int8", "q4_k_m", "onnx", in any case of letters; empty: the usual one
  std::vector<std::string> include = {};   // patterns; these files in place of those that a run needs
  std::vector<std::string> exclude = {};
  bool all = false;
  std::string file = {};  // a GGUF: it, or all parts of the variant that it belongs to, in place of the variants
};

/// The text of a small file of the model: the index of sharded weights.
using ReadRemoteText = std::function<std::string(const RemoteFile&)>;

/// Whether a run reads the file besides weights: configuration, tokenizer, model card.
bool is_supporting_file(std::string_view name);

/// Configuration, tokenizer and model card at the top level and in the folders of sentence-transformers' modules
/// (1_Pooling); and the weights of the modules, of peft's adapters and of the variants (folders/variant_names.h): the
/// one without a name where none is asked for; of GGUF files Q4_K_M, else Q4_0, Q8_0, F16
/// or the first. Of sharded weights, those that the
/// index names. In the listing's order.
///
/// Throws not_found for a model without weights, for a variant or `file` that is not there, with those that are, and
/// where patterns leave nothing; invalid_argument where a variant must be named; corrupt for an index whose shards are
/// not there.
std::vector<RemoteFile> choose_files(const RemoteModel& model, const std::string& id, const FileChoice& choice,
                                     const ReadRemoteText& read);

}  // namespace alate::hub
