// Disentangled attention (He et al. 2021, arXiv:2006.03654): beside the product of query and key, a score has those of
// the query and of the key with learned vectors of their distance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "models/encoder.h"

namespace alate::models {

struct DisentangledConfig {
  std::int64_t heads = 0, hidden = 0;
  std::int64_t places = 0;  // of the longest sequence
  bool is_relative = false;
  bool scores_queries = false, scores_keys = false;  // by distance: "c2p" and "p2c"
  double scale = 1;                                  // of each of the products
  std::int64_t span = 0;                             // half of the table's rows: distances from -span to span - 1
  std::int64_t buckets = 0;   // farther distances than half of them share rows, logarithmically; 0: none do
  std::int64_t farthest = 0;  // distance of the last bucket

  std::int64_t head_size() const { return hidden / heads; }
  bool uses_distances() const { return is_relative && (scores_queries || scores_keys); }
};

/// The parts of pos_att_type that are written in a list, or in a text between bars.
std::vector<std::string> read_position_scores(const formats::Json& config);

/// The table's row for query - key. Formula: make_log_bucket_position of transformers' modeling_deberta_v2.py, in
/// float32, step by step as there.
std::int64_t row_of_distance(const DisentangledConfig& config, std::int64_t distance);

/// Queries, keys and values [tokens, heads, head size] of a layer, and the vectors of distances [2 * span, hidden] that
/// it needs: of keys for the scores of queries, and of queries for those of keys.
struct DisentangledOperands {
  graph::Value query, key, value;
  std::optional<graph::Value> position_keys, position_queries;
};

/// Attention of a graph. What depends on distances but on no layer is built once.
class DisentangledAttention {
 public:
  /// Both must outlive it.
  DisentangledAttention(EncoderScope& scope, const DisentangledConfig& config);

  /// [tokens, hidden].
  graph::Value attend(const DisentangledOperands& operands) const;

 private:
  graph::Value attend_in_order(const DisentangledOperands& operands, const graph::Attention& attributes) const;
  graph::Value attend_by_place(const DisentangledOperands& operands, const graph::Attention& attributes) const;
  graph::Value products(graph::Value heads, graph::Value vectors) const;
  graph::Value scaled_vectors(graph::Value table, std::optional<graph::Value> rows) const;

  EncoderScope& scope_;
  const DisentangledConfig& config_;
  // Rows of the table. In order: [2, longest] by key - query and by query - key, from -longest on. By place:
  // [sequences, longest, longest].
  std::optional<graph::Value> rows_of_keys_, rows_of_queries_, rows_of_pairs_;
};

}  // namespace alate::models
