#include "apps/alate/texts/kind_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/texts/job_part.h"
#include "formats/json.h"

namespace alate::app {
namespace {

void append_vector(std::string& out, std::span<const float> values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    formats::append_json_number(out, values[i]);
  }
  out += ']';
}

void append_sparse(std::string& out, const SparseEmbedding& sparse) {
  out += "{\"indices\":[";
  for (std::size_t i = 0; i < sparse.indices.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(sparse.indices[i]);
  out += "],\"values\":";
  append_vector(out, sparse.values);
  out += '}';
}

std::span<const float> row_of(const Tensor& matrix, std::size_t row) {
  const auto width = static_cast<std::size_t>(matrix.extent(1));
  return matrix.values<float>().subspan(row * width, width);
}

void append_vectors(std::string& out, const Tensor& vectors) {
  out += '[';
  for (std::size_t i = 0; i < static_cast<std::size_t>(vectors.extent(0)); ++i) {
    if (i > 0) out += ',';
    append_vector(out, row_of(vectors, i));
  }
  out += ']';
}

std::size_t text_count(const KindEmbeddings& part, const EmbeddingKinds& kinds) {
  if (kinds.sparse) return part.sparse.size();
  return kinds.dense ? static_cast<std::size_t>(part.dense.extent(0)) : part.multi_vectors.size();
}

// A line for each text: "INDEX:WEIGHT INDEX:WEIGHT …", as in svmlight's format.
class SparseLineWriter final : public KindWriter {
 public:
  explicit SparseLineWriter(Output& output) : output_(output) {}

  void add(const KindEmbeddings& part, std::size_t, std::span<const std::string>,
           std::span<const RefusedLine>) override {
    for (const SparseEmbedding& sparse : part.sparse) {
      std::string line;
      for (std::size_t i = 0; i < sparse.indices.size(); ++i) {
        line += (i > 0 ? " " : "") + std::to_string(sparse.indices[i]) + ':';
        formats::append_json_number(line, sparse.values[i]);
      }
      output_.write(line += '\n');
    }
  }
  void finish(const EmbeddingTotals&) override {}

 private:
  Output& output_;
};

class JsonlWriter final : public KindWriter {
 public:
  JsonlWriter(Output& output, const EmbeddingKinds& kinds) : output_(output), kinds_(kinds) {}

  void add(const KindEmbeddings& part, std::size_t first, std::span<const std::string> members,
           std::span<const RefusedLine> refused) override {
    const auto write = [&](std::size_t i) {
      std::string line = begin_line(members[i]);
      line += "\"index\":" + std::to_string(first + i);
      if (kinds_.dense) append_vector(line += ",\"embedding\":", row_of(part.dense, i));
      if (kinds_.sparse) append_sparse(line += ",\"sparse_embedding\":", part.sparse[i]);
      if (kinds_.multi_vector) append_vectors(line += ",\"multi_vector\":", part.multi_vectors[i]);
      line += ",\"truncated\":";
      line += std::ranges::binary_search(part.truncated, i) ? "true}\n" : "false}\n";
      output_.write(line);
    };
    write_in_order(text_count(part, kinds_), refused, write,
                   [&](const RefusedLine& line) { output_.write(error_line(line) + "\n"); });
  }
  void finish(const EmbeddingTotals&) override {}

 private:
  Output& output_;
  EmbeddingKinds kinds_;
};

// Writes the format of the body of POST /api/embed: a list for each kind.
class JsonWriter final : public KindWriter {
 public:
  JsonWriter(Output& output, const EmbeddingKinds& kinds, std::string_view model) : output_(output), kinds_(kinds) {
    std::string text = "{\"model\":";
    formats::append_json_string(text, model);
    output_.write(text += ",\"embeddings\":[");
  }

  void add(const KindEmbeddings& part, std::size_t first, std::span<const std::string>,
           std::span<const RefusedLine>) override {
    for (std::size_t i = 0; i < text_count(part, kinds_); ++i) {
      const char* const comma = first + i == 0 ? "" : ",";
      if (kinds_.dense) {
        std::string text = comma;
        append_vector(text, row_of(part.dense, i));
        output_.write(text);
      }
      if (kinds_.sparse) append_sparse(sparse_ += comma, part.sparse[i]);
      if (kinds_.multi_vector) append_vectors(multi_vectors_ += comma, part.multi_vectors[i]);
    }
    for (const std::size_t index : part.truncated) truncated_.push_back(first + index);
  }
  void finish(const EmbeddingTotals& totals) override {
    std::string text = "]";
    if (kinds_.sparse) text += ",\"sparse_embeddings\":[" + sparse_ + "]";
    if (kinds_.multi_vector) text += ",\"multi_vectors\":[" + multi_vectors_ + "]";
    append_totals(text, totals, truncated_);
    output_.write(text += "}\n");
  }

 private:
  Output& output_;
  EmbeddingKinds kinds_;
  std::string sparse_, multi_vectors_;
  std::vector<std::size_t> truncated_;
};

}  // namespace

void require_format(OutputFormat format, const EmbeddingKinds& kinds) {
  const bool is_lines = format == OutputFormat::json || format == OutputFormat::jsonl;
  if (is_lines || kinds == EmbeddingKinds::only(EmbeddingKind::dense)) return;
  if (format == OutputFormat::text && kinds == EmbeddingKinds::only(EmbeddingKind::sparse)) return;
  throw make_error(ErrorCode::unsupported, "the output ", to_string(format),
                   " has no place for embeddings that are not ",
                   format == OutputFormat::text ? "all dense or all sparse" : "dense",
                   "; choose --output json or jsonl: ", to_string(format));
}

std::unique_ptr<KindWriter> make_kind_writer(OutputFormat format, Output& output, const EmbeddingKinds& kinds,
                                             const std::string& model) {
  if (format == OutputFormat::json) return std::make_unique<JsonWriter>(output, kinds, model);
  if (format == OutputFormat::jsonl) return std::make_unique<JsonlWriter>(output, kinds);
  return std::make_unique<SparseLineWriter>(output);
}

}  // namespace alate::app
