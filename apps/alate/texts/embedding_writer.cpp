#include "apps/alate/texts/embedding_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "apps/alate/texts/embedding_tensor_writer.h"
#include "apps/alate/texts/embedding_text.h"
#include "apps/alate/texts/job_part.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace alate::app {
namespace {

constexpr EmbeddingKinds kDense{.dense = true}, kSparse{.sparse = true}, kMultiVector{.multi_vector = true};

std::size_t text_count(const KindEmbeddings& part, const EmbeddingKinds& kinds) {
  if (kinds.sparse) return part.sparse.size();
  return kinds.dense ? static_cast<std::size_t>(part.dense.extent(0)) : part.multi_vectors.size();
}

// Lines of one kind. text: a dense vector, or the pairs INDEX:WEIGHT of a sparse embedding as in svmlight's format.
// csv: a dense vector; or, behind the number of the text, one of its weights with its index, or one of its vectors.
class LineWriter final : public EmbeddingWriter {
 public:
  LineWriter(Output& output, const EmbeddingKinds& kinds, char separator)
      : output_(output), kinds_(kinds), separator_(separator) {}

  void add(const KindEmbeddings& part, std::size_t first, std::span<const std::string>,
           std::span<const RefusedLine>) override {
    for (std::size_t i = 0; i < text_count(part, kinds_); ++i) {
      std::string lines;
      if (kinds_.dense) {
        append_row(lines, part.dense, i, separator_);
        lines += '\n';
      } else if (kinds_.multi_vector) {
        append_vectors(lines, part.multi_vectors[i], first + i);
      } else if (separator_ == ',') {
        append_weights(lines, part.sparse[i], first + i);
      } else {
        append_pairs(lines, part.sparse[i]);
      }
      output_.write(lines);
    }
  }
  void finish(const EmbeddingTotals&) override {}

 private:
  static void append_pairs(std::string& out, const SparseEmbedding& sparse) {
    for (std::size_t i = 0; i < sparse.indices.size(); ++i) {
      out += (i > 0 ? " " : "") + std::to_string(sparse.indices[i]) + ':';
      formats::append_json_number(out, sparse.values[i]);
    }
    out += '\n';
  }
  static void append_weights(std::string& out, const SparseEmbedding& sparse, std::size_t text) {
    for (std::size_t i = 0; i < sparse.indices.size(); ++i) {
      out += std::to_string(text) + ',' + std::to_string(sparse.indices[i]) + ',';
      formats::append_json_number(out, sparse.values[i]);
      out += '\n';
    }
  }
  static void append_vectors(std::string& out, const Tensor& vectors, std::size_t text) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(vectors.extent(0)); ++i) {
      append_row(out += std::to_string(text) + ',', vectors, i, ',');
      out += '\n';
    }
  }

  Output& output_;
  EmbeddingKinds kinds_;
  char separator_;
};

class JsonlWriter final : public EmbeddingWriter {
 public:
  JsonlWriter(Output& output, const EmbeddingKinds& kinds) : output_(output), kinds_(kinds) {}

  void add(const KindEmbeddings& part, std::size_t first, std::span<const std::string> members,
           std::span<const RefusedLine> refused) override {
    const auto write = [&](std::size_t i) {
      std::string line = begin_line(members[i]);
      line += "\"index\":" + std::to_string(first + i);
      if (kinds_.dense) {
        append_row(line += ",\"embedding\":[", part.dense, i, ',');
        line += ']';
      }
      if (kinds_.sparse) append_json(line += ",\"sparse_embedding\":", part.sparse[i]);
      if (kinds_.multi_vector) append_json(line += ",\"multi_vector\":", part.multi_vectors[i]);
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

void append_totals(std::string& out, const EmbeddingTotals& totals, std::span<const std::size_t> truncated) {
  out += ",\"total_duration\":" + std::to_string(totals.total_ns);
  out += ",\"load_duration\":" + std::to_string(totals.load_ns);
  out += ",\"prompt_eval_count\":" + std::to_string(totals.tokens);
  for (std::size_t i = 0; i < truncated.size(); ++i)
    out += (i == 0 ? ",\"truncated\":[" : ",") + std::to_string(truncated[i]);
  if (!truncated.empty()) out += ']';
  if (totals.profile) out += ",\"profile\":" + formats::to_json_text(*totals.profile);
}

// Writes the format of the body of POST /api/embed: a list for each kind.
class JsonWriter final : public EmbeddingWriter {
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
        append_row(text += '[', part.dense, i, ',');
        output_.write(text += ']');
      }
      if (kinds_.sparse) append_json(sparse_ += comma, part.sparse[i]);
      if (kinds_.multi_vector) append_json(multi_vectors_ += comma, part.multi_vectors[i]);
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
  std::vector<std::size_t> truncated_;  // the body ends with all of them
};

bool has_place(OutputFormat format, const EmbeddingKinds& kinds) {
  switch (format) {
    case OutputFormat::json:
    case OutputFormat::jsonl:
    case OutputFormat::safetensors: return true;
    case OutputFormat::csv: return kinds == kDense || kinds == kSparse || kinds == kMultiVector;
    case OutputFormat::text:
    case OutputFormat::markdown: return kinds == kDense || kinds == kSparse;
    case OutputFormat::npy: return kinds == kDense;
  }
  return false;
}

}  // namespace

std::vector<std::string_view> embedding_members(const EmbeddingKinds& kinds) {
  std::vector<std::string_view> members = {"index"};
  if (kinds.dense) members.emplace_back("embedding");
  if (kinds.sparse) members.emplace_back("sparse_embedding");
  if (kinds.multi_vector) members.emplace_back("multi_vector");
  members.emplace_back("truncated");
  return members;
}

void require_format(OutputFormat format, const EmbeddingKinds& kinds) {
  if (has_place(format, kinds)) return;
  const char* holds = "embeddings of several kinds";
  if (format == OutputFormat::npy) holds = "embeddings that are not dense";
  if (format == OutputFormat::text) holds = "embeddings that are not all dense or all sparse";
  throw make_error(ErrorCode::unsupported, "the output ", to_string(format), " has no place for ", holds,
                   "; choose --output json, jsonl or safetensors: ", to_string(format));
}

std::unique_ptr<EmbeddingWriter> make_embedding_writer(OutputFormat format, Output& output, const EmbeddingJob& job) {
  require_format(format, job.kinds);
  switch (format) {
    case OutputFormat::json: return std::make_unique<JsonWriter>(output, job.kinds, job.model);
    case OutputFormat::jsonl: return std::make_unique<JsonlWriter>(output, job.kinds);
    case OutputFormat::csv: return std::make_unique<LineWriter>(output, job.kinds, ',');
    case OutputFormat::npy: return make_dense_tensor_writer(formats::TensorFileKind::npy, output, job);
    case OutputFormat::safetensors:
      if (job.kinds == kDense) return make_dense_tensor_writer(formats::TensorFileKind::safetensors, output, job);
      return make_kind_tensor_writer(output, job);
    case OutputFormat::text:
    case OutputFormat::markdown: break;
  }
  return std::make_unique<LineWriter>(output, job.kinds, ' ');
}

}  // namespace alate::app
