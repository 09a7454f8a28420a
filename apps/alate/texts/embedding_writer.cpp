#include "apps/alate/texts/embedding_writer.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/texts/job_part.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace alate::app {
namespace {

std::size_t row_count(const Embeddings& part) { return static_cast<std::size_t>(part.vectors.extent(0)); }

template <typename Number>
void append_row(std::string& out, const Tensor& vectors, std::size_t index, char separator) {
  const auto width = static_cast<std::size_t>(vectors.extent(1));
  const std::span<const Number> values = vectors.values<Number>().subspan(index * width, width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += separator;
    if constexpr (std::is_integral_v<Number>) {
      out += std::to_string(values[i]);
    } else {
      formats::append_json_number(out, values[i]);
    }
  }
}

void append_numbers(std::string& out, const Embeddings& part, std::size_t index, char separator) {
  switch (part.vectors.dtype()) {
    case DType::i8: return append_row<std::int8_t>(out, part.vectors, index, separator);
    case DType::u8: return append_row<std::uint8_t>(out, part.vectors, index, separator);
    default: return append_row<float>(out, part.vectors, index, separator);
  }
}

// Writes one vector per line.
class LineWriter : public EmbeddingWriter {
 public:
  LineWriter(Output& output, char separator) : output_(output), separator_(separator) {}

  void add(const Embeddings& part, std::size_t, std::span<const std::string>, std::span<const RefusedLine>) override {
    for (std::size_t i = 0; i < row_count(part); ++i) {
      std::string line;
      append_numbers(line, part, i, separator_);
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

  void add(const Embeddings& part, std::size_t first, std::span<const std::string> members,
           std::span<const RefusedLine> refused) override {
    const auto write = [&](std::size_t i) {
      std::string line = begin_line(members[i]);
      line += "\"index\":" + std::to_string(first + i) + ",\"embedding\":[";
      append_numbers(line, part, i, ',');
      line += "],\"truncated\":";
      line += std::ranges::binary_search(part.truncated, i) ? "true}\n" : "false}\n";
      output_.write(line);
    };
    write_in_order(row_count(part), refused, write,
                   [&](const RefusedLine& line) { output_.write(error_line(line) + "\n"); });
  }
  void finish(const EmbeddingTotals&) override {}

 private:
  Output& output_;
};

// Writes the format of the body of POST /api/embed.
class JsonWriter : public EmbeddingWriter {
 public:
  JsonWriter(Output& output, std::string_view model) : output_(output) {
    std::string text = "{\"model\":";
    formats::append_json_string(text, model);
    output_.write(text += ",\"embeddings\":[");
  }

  void add(const Embeddings& part, std::size_t first, std::span<const std::string>,
           std::span<const RefusedLine>) override {
    for (std::size_t i = 0; i < row_count(part); ++i) {
      std::string text = first + i == 0 ? "[" : ",[";
      append_numbers(text, part, i, ',');
      output_.write(text += ']');
    }
    for (const std::size_t index : part.truncated) truncated_.push_back(first + index);
  }
  void finish(const EmbeddingTotals& totals) override {
    std::string text = "]";
    append_totals(text, totals, truncated_);
    output_.write(text += "}\n");
  }

 private:
  Output& output_;
  std::vector<std::size_t> truncated_;  // the body ends with all of them
};

// Writes all vectors as one tensor. Its head says how many there are: it is written first where the number is known or
// the output can be written twice; otherwise the vectors wait for the last.
class TensorWriter : public EmbeddingWriter {
 public:
  TensorWriter(Output& output, formats::TensorFileKind kind, const EmbeddingJob& job)
      : output_(output),
        kind_(kind),
        width_(static_cast<std::int64_t>(job.numbers)),
        dtype_(job.dtype),
        expected_(job.texts),
        rows_(job.done) {
    if (!expected_ && output.is_file()) expected_ = 0;
    if (expected_ && !job.is_begun) output_.write(head(*expected_));
  }

  void add(const Embeddings& part, std::size_t, std::span<const std::string>, std::span<const RefusedLine>) override {
    rows_ += row_count(part);
    if (expected_) {
      output_.write(part.vectors.bytes());
    } else {
      waiting_.push_back(part.vectors);
    }
  }
  void finish(const EmbeddingTotals&) override {
    if (!expected_) {
      output_.write(head(rows_));
      for (const Tensor& part : waiting_) output_.write(part.bytes());
    } else if (rows_ != *expected_) {
      if (!output_.is_file())
        throw make_error(ErrorCode::unavailable, "the input had ", *expected_, " texts when the output was begun, and ",
                         rows_, " at its end; run it again when nothing writes to the input");
      output_.rewrite_start(head(rows_));
    }
  }

 private:
  std::string head(std::size_t rows) const {
    return formats::growing_tensor_head(kind_, "embeddings", Shape{dtype_, {static_cast<std::int64_t>(rows), width_}});
  }

  Output& output_;
  formats::TensorFileKind kind_;
  std::int64_t width_;
  DType dtype_;
  std::optional<std::size_t> expected_;  // the number in the head that is written; absent: none is
  std::size_t rows_ = 0;
  std::vector<Tensor> waiting_;
};

}  // namespace

void append_totals(std::string& out, const EmbeddingTotals& totals, std::span<const std::size_t> truncated) {
  out += ",\"total_duration\":" + std::to_string(totals.total_ns);
  out += ",\"load_duration\":" + std::to_string(totals.load_ns);
  out += ",\"prompt_eval_count\":" + std::to_string(totals.tokens);
  for (std::size_t i = 0; i < truncated.size(); ++i)
    out += (i == 0 ? ",\"truncated\":[" : ",") + std::to_string(truncated[i]);
  if (!truncated.empty()) out += ']';
  if (totals.profile) out += ",\"profile\":" + formats::to_json_text(*totals.profile);
}

std::unique_ptr<EmbeddingWriter> make_embedding_writer(OutputFormat format, Output& output, const EmbeddingJob& job) {
  switch (format) {
    case OutputFormat::json: return std::make_unique<JsonWriter>(output, job.model);
    case OutputFormat::jsonl: return std::make_unique<JsonlWriter>(output);
    case OutputFormat::csv: return std::make_unique<LineWriter>(output, ',');
    case OutputFormat::npy: return std::make_unique<TensorWriter>(output, formats::TensorFileKind::npy, job);
    case OutputFormat::safetensors:
      return std::make_unique<TensorWriter>(output, formats::TensorFileKind::safetensors, job);
    case OutputFormat::text:
    case OutputFormat::markdown: break;
  }
  return std::make_unique<LineWriter>(output, ' ');
}

}  // namespace alate::app
