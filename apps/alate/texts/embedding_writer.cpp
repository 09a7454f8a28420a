#include "apps/alate/texts/embedding_writer.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "formats/tensor_file.h"

namespace alate::app {
namespace {

std::span<const float> row(const Embeddings& part, std::size_t index) {
  const auto width = static_cast<std::size_t>(part.vectors.extent(1));
  return part.vectors.values<float>().subspan(index * width, width);
}

std::size_t row_count(const Embeddings& part) { return static_cast<std::size_t>(part.vectors.extent(0)); }

void append_numbers(std::string& out, std::span<const float> values, char separator) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += separator;
    formats::append_json_number(out, values[i]);
  }
}

// Writes one vector per line.
class LineWriter : public EmbeddingWriter {
 public:
  LineWriter(Output& output, char separator) : output_(output), separator_(separator) {}

  void add(const Embeddings& part, std::size_t, std::span<const std::string>) override {
    for (std::size_t i = 0; i < row_count(part); ++i) {
      std::string line;
      append_numbers(line, row(part, i), separator_);
      output_.write(line += '\n');
    }
  }
  void finish(const EmbeddingTotals&) override {}

 private:
  Output& output_;
  char separator_;
};

class JsonlWriter : public EmbeddingWriter {
 public:
  explicit JsonlWriter(Output& output) : output_(output) {}

  void add(const Embeddings& part, std::size_t first, std::span<const std::string> members) override {
    for (std::size_t i = 0; i < row_count(part); ++i) {
      std::string line = "{" + members[i] + (members[i].empty() ? "" : ",");
      line += "\"index\":" + std::to_string(first + i) + ",\"embedding\":[";
      append_numbers(line, row(part, i), ',');
      line += "],\"truncated\":";
      line += std::ranges::binary_search(part.truncated, i) ? "true}\n" : "false}\n";
      output_.write(line);
    }
  }
  void finish(const EmbeddingTotals&) override {}

 private:
  Output& output_;
};

// Writes the format of the body of POST /api/embed.
class JsonWriter : public EmbeddingWriter {
 public:
  explicit JsonWriter(Output& output) : output_(output) {}

  void add(const Embeddings& part, std::size_t, std::span<const std::string>) override {
    for (std::size_t i = 0; i < row_count(part); ++i) {
      rows_ += rows_.empty() ? "[" : ",[";
      append_numbers(rows_, row(part, i), ',');
      rows_ += ']';
    }
  }
  void finish(const EmbeddingTotals& totals) override {
    std::string text = "{\"model\":";
    formats::append_json_string(text, totals.model);
    text += ",\"embeddings\":[" + rows_ + "]";
    text += ",\"total_duration\":" + std::to_string(totals.total_ns);
    text += ",\"load_duration\":" + std::to_string(totals.load_ns);
    text += ",\"prompt_eval_count\":" + std::to_string(totals.tokens);
    for (std::size_t i = 0; i < totals.truncated.size(); ++i)
      text += (i == 0 ? ",\"truncated\":[" : ",") + std::to_string(totals.truncated[i]);
    if (!totals.truncated.empty()) text += ']';
    if (totals.profile) text += ",\"profile\":" + formats::to_json_text(*totals.profile);
    output_.write(text += "}\n");
  }

 private:
  Output& output_;
  std::string rows_;
};

// Writes all vectors as one tensor.
class TensorWriter : public EmbeddingWriter {
 public:
  TensorWriter(Output& output, formats::TensorFileKind kind, std::size_t dimensions)
      : output_(output), kind_(kind), dimensions_(dimensions) {}

  void add(const Embeddings& part, std::size_t, std::span<const std::string>) override {
    parts_.push_back(part.vectors);
  }
  void finish(const EmbeddingTotals&) override {
    const formats::NamedTensor all{"embeddings", whole()};
    output_.write(formats::tensor_file_bytes(kind_, std::span(&all, 1)));
  }

 private:
  Tensor whole() const {
    if (parts_.size() == 1) return parts_.front();
    std::vector<float> values;
    for (const Tensor& part : parts_)
      values.insert(values.end(), part.values<float>().begin(), part.values<float>().end());
    const auto width = static_cast<std::int64_t>(dimensions_);
    return Tensor::from<float>({width == 0 ? 0 : static_cast<std::int64_t>(values.size()) / width, width}, values);
  }

  Output& output_;
  formats::TensorFileKind kind_;
  std::size_t dimensions_;
  std::vector<Tensor> parts_;
};

}  // namespace

std::unique_ptr<EmbeddingWriter> make_embedding_writer(OutputFormat format, Output& output, std::size_t dimensions) {
  switch (format) {
    case OutputFormat::json: return std::make_unique<JsonWriter>(output);
    case OutputFormat::jsonl: return std::make_unique<JsonlWriter>(output);
    case OutputFormat::csv: return std::make_unique<LineWriter>(output, ',');
    case OutputFormat::npy: return std::make_unique<TensorWriter>(output, formats::TensorFileKind::npy, dimensions);
    case OutputFormat::safetensors:
      return std::make_unique<TensorWriter>(output, formats::TensorFileKind::safetensors, dimensions);
    case OutputFormat::text:
    case OutputFormat::markdown: break;
  }
  return std::make_unique<LineWriter>(output, ' ');
}

}  // namespace alate::app
