// The weights of a model folder, by the names that an architecture uses.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/weight_source.h"
#include "graph/builder.h"
#include "models/weights/adapters.h"
#include "models/weights/weight_settings.h"

namespace alate::models {

/// Tensors by their names in a file.
using TensorsByName = std::map<std::string, Tensor, std::less<>>;

/// Whether a linear layer may be computed, or a table stored, in a smaller type than float32 where the file does not
/// store it so.
enum class Rounding { allowed, never };

/// Whether a linear layer of an architecture always has a bias.
enum class Bias { required, if_stored };

/// A linear layer of a built graph.
struct LinearLayer {
  std::string module;  // its name in the file, without ".weight"
  std::int64_t in = 0, out = 0;
  graph::Value x, y;
  Rounding rounding = Rounding::allowed;
};

/// A lookup table of a built graph.
struct LookupTable {
  std::string weight;  // its name in the file
  std::int64_t rows = 0, width = 0;
  Rounding rounding = Rounding::allowed;
};

/// Gives weights as constants of a graph, in float32 whatever their stored type or encoding, and builds layers, which
/// may compute in other types. Handles the prefix that a checkpoint of a larger model puts before the base model's
/// names, and older spellings of names. Not thread-safe.
class Weights {
 public:
  /// `prefix` ("bert.") is removed where the file's names have it. `instead` holds tensors that replace the file's or
  /// are added to them; `source` and it must outlive this.
  Weights(const formats::WeightSource& source, std::string prefix, WeightSettings settings = {},
          const TensorsByName* instead = nullptr);

  /// `linear` and `lookup` add its products from now on. It must outlive this.
  void adapt(const Adapter& adapter) { adapter_ = &adapter; }

  /// Both names are those of one tensor: where the file has only one of them, it is found under the other too.
  void tie(std::string_view name, std::string_view other) { ties_.emplace_back(name, other); }

  bool has(std::string_view name) const { return !stored_name(name).empty(); }
  /// Throws not_found naming the weight, corrupt when the shape differs, or a weight of integers lacks its scales or
  /// has scales or zero points of a wrong shape.
  graph::Value get(graph::Builder& b, std::string_view name, const std::vector<std::int64_t>& extents);
  /// The number of rows of a matrix, for weights whose width only the file knows. Throws not_found, corrupt when the
  /// weight is no matrix.
  std::int64_t rows(std::string_view name) const;

  /// x [..., in] · NAME.weightᵀ [out, in] + NAME.bias: dense, or quantized_dense as the file and the settings say.
  /// Throws as `get`, and unsupported where a weight to be kept in f16 has numbers beyond its range.
  graph::Value linear(graph::Builder& b, const std::string& name, graph::Value x, std::int64_t in, std::int64_t out,
                      Rounding rounding = Rounding::allowed, Bias bias = Bias::required);
  /// x [..., width] · TABLEᵀ [rows, width] + bias: the scores of a vocabulary, whose table, a stored name, may also be
  /// looked up. It is not rounded where the file does not store it so. Throws as `get`.
  graph::Value scores(graph::Builder& b, const std::string& table, graph::Value x, std::int64_t width,
                      std::int64_t rows, std::optional<graph::Value> bias);
  /// The rows of table `name` [rows, width] that `indices` name, in f32. Throws as `get`.
  graph::Value lookup(graph::Builder& b, const std::string& name, graph::Value indices, std::int64_t rows,
                      std::int64_t width, Rounding rounding = Rounding::allowed);
  const WeightSettings& settings() const { return settings_; }
  /// The layers and tables built by `linear` and `lookup`, in order.
  std::span<const LinearLayer> linear_layers() const { return layers_; }
  std::span<const LookupTable> lookup_tables() const { return tables_; }

  /// The tensor of this name in the file, or its replacement, as f32 on the host. Throws not_found.
  Tensor floats(std::string_view stored) const;

  /// Stored names that have not been used.
  std::vector<std::string> unused() const;

 private:
  /// A stored matrix of integers: operands of ops over quantized encodings.
  struct StoredRows {
    graph::ConstantPtr stored, scales;
    graph::Numbers blocks;                     // covered by one scale, as in tensor::Encoding
    graph::ConstantPtr zero_points = nullptr;  // of unsigned integers

    std::vector<graph::ConstantPtr> operands() const;
  };

  const Tensor* replacement(std::string_view stored) const;
  bool holds(std::string_view stored) const;
  /// Of numbers: two of 4 bits in a byte count as two.
  Shape stored_shape(std::string_view stored) const;
  std::optional<tensor::EncodingKind> encoding_of(std::string_view stored) const;
  formats::WeightChange change_of(std::string_view stored) const;
  /// The tensor of the file, its rows in the order of transformers.
  graph::ConstantPtr leaf(const std::string& stored);
  /// A leaf's values in float32.
  graph::ConstantPtr restored_floats(graph::ConstantPtr stored_rows, const std::string& stored) const;
  /// The extents of a weight. Throws not_found.
  std::vector<std::int64_t> extents(std::string_view name) const;
  /// The name in the file, with the extents checked. Throws not_found, corrupt.
  std::string require(std::string_view name, const std::vector<std::int64_t>& extents) const;
  /// The name in the file: as given, with or without the prefix, or in an older spelling; empty where there is none.
  std::string spelled_name(std::string_view name) const;
  /// The same, or that of a name that is tied to it.
  std::string stored_name(std::string_view name) const;

  bool is_stored_in_8_bits(std::string_view stored) const;
  bool is_stored_unsigned(std::string_view stored) const;
  /// `groups`: the number of groups that a row may be split into, each with its own scale; one scale per row is always
  /// allowed. Throws corrupt.
  StoredRows stored_rows(const std::string& stored, std::int64_t groups);
  /// Of a matrix that is_stored_unsigned. Throws corrupt.
  StoredRows unsigned_rows(const std::string& stored);
  graph::ConstantPtr zero_points(const std::string& stored, const Shape& scales);
  /// Of the shape found; throws corrupt for scales that are missing or not finite.
  graph::ConstantPtr scales_of(const std::string& stored);
  StoredRows rounded_rows(const std::string& stored, const InputRounding& inputs);
  /// The weight in float32. For a matrix in 8 bits, `groups` is as in stored_rows.
  graph::ConstantPtr in_float32(const std::string& stored, std::int64_t groups = 1);
  graph::ConstantPtr weight_of(const std::string& stored, graph::ConstantPtr smoothing);
  /// NAME.smoothing [in], null where there is none. Throws corrupt.
  graph::ConstantPtr smoothing(const std::string& module, std::int64_t in);
  graph::Value quantized_linear(graph::Builder& b, const std::string& stored, const LinearLayer& layer,
                                graph::ConstantPtr smoothing, std::optional<graph::Value> bias);
  /// The product of `linear` without the adapter's.
  graph::Value weighted(graph::Builder& b, const std::string& stored, const LinearLayer& layer,
                        std::optional<graph::Value> bias);
  /// Whether a weight of this type stays in it, which gives the bits of its floats.
  bool keeps_as_stored(const std::string& stored, DType dtype) const;
  /// A matrix of ggml blocks.
  struct StoredBlocks {
    tensor::EncodingKind kind;
    graph::ConstantPtr stored;
  };
  /// Of a matrix whose stored blocks are read as they are; none if they are not, or if it has none.
  std::optional<StoredBlocks> stored_blocks(const std::string& stored);
  /// The same, or those that the settings ask for; none where the width is no multiple of a block.
  std::optional<StoredBlocks> blocks_of(const std::string& stored, const LinearLayer& layer);
  graph::Value block_linear(graph::Builder& b, StoredBlocks weight, const LinearLayer& layer,
                            std::optional<graph::Value> bias);
  graph::Value table_rows(graph::Builder& b, const std::string& stored, graph::Value indices);
  /// The adapter's part for a module; null where it has none.
  const LowRank* adaptation(std::string_view module) const;

  const formats::WeightSource& source_;
  std::string prefix_;
  WeightSettings settings_;
  const TensorsByName* instead_;
  const Adapter* adapter_ = nullptr;
  std::vector<std::pair<std::string, std::string>> ties_;
  std::set<std::string, std::less<>> used_;
  std::vector<LinearLayer> layers_;
  std::vector<LookupTable> tables_;
};

}  // namespace alate::models
