// Models for late interaction (ColBERT: Khattab and Zaharia 2020, arXiv:2004.12832), as sentence-transformers, PyLate
// and ColBERT's own code write them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace alate::pipelines {

/// A linear layer over the vectors of tokens: linear.weight, linear.bias and residual.weight of a folder's weights.
struct TokenProjection {
  std::filesystem::path folder;
  bool is_beside_encoder = false;       // in the model's own files
  std::string activation = "Identity";  // a class of torch.nn
  bool has_residual = false;            // the input is added, itself or through residual.weight
};

/// What comes before a query's or a document's text, and how long it may be.
struct TextRole {
  std::string marker;  // one token if the vocabulary has it, else text
  std::optional<std::size_t> length;
};

/// Queries get further tokens up to a length; each has a vector.
struct QueryExpansion {
  std::string token;
  std::size_t length = 32;
  bool attends = false;  // whether the query's tokens see the further ones
  bool is_fixed = true;  // longer queries are cut to the length
};

struct LateInteractionModule {
  std::vector<TokenProjection> projections;
  bool normalizes = true;
  TextRole query, document;
  std::optional<QueryExpansion> expansion;
  std::vector<std::string> skipped;  // tokens whose vectors are left out
  bool skips_in_queries = false, skips_in_documents = true;
};

/// Nothing for a folder that is not for late interaction. Throws unsupported naming a module or setting that is not
/// known here, corrupt for values that no model has.
std::optional<LateInteractionModule> read_late_interaction(const std::filesystem::path& folder);

}  // namespace alate::pipelines
