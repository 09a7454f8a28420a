#include "apps/alate/texts/embedding_tensor_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/named_tensor.h"

namespace alate::app {
namespace {

// The head says how many vectors there are: it is written first where the number is known or the output can be written
// twice; otherwise the vectors wait for the last.
class DenseTensorWriter final : public EmbeddingWriter {
 public:
  DenseTensorWriter(formats::TensorFileKind kind, Output& output, const EmbeddingJob& job)
      : output_(output),
        kind_(kind),
        width_(static_cast<std::int64_t>(job.numbers)),
        dtype_(job.dtype),
        expected_(job.texts),
        rows_(job.done) {
    if (!expected_ && output.is_file()) expected_ = 0;
    if (expected_ && !job.is_begun) output_.write(head(*expected_));
  }

  void add(const KindEmbeddings& part, std::size_t, std::span<const std::string>,
           std::span<const RefusedLine>) override {
    rows_ += static_cast<std::size_t>(part.dense.extent(0));
    if (expected_) {
      output_.write(part.dense.bytes());
    } else {
      waiting_.push_back(part.dense);
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

template <typename Number>
void append(std::vector<Number>& all, std::span<const Number> more) {
  all.insert(all.end(), more.begin(), more.end());
}

class KindTensorWriter final : public EmbeddingWriter {
 public:
  KindTensorWriter(Output& output, const EmbeddingJob& job) : output_(output), job_(job) {}

  void add(const KindEmbeddings& part, std::size_t, std::span<const std::string>,
           std::span<const RefusedLine>) override {
    if (job_.kinds.dense) {
      append(dense_, part.dense.bytes());
      rows_ += part.dense.extent(0);
    }
    for (const SparseEmbedding& sparse : part.sparse) {
      append(sparse_indices_, std::span<const std::int32_t>(sparse.indices));
      append(sparse_values_, std::span<const float>(sparse.values));
      sparse_starts_.push_back(static_cast<std::int64_t>(sparse_values_.size()));
    }
    for (const Tensor& vectors : part.multi_vectors) {
      width_ = vectors.extent(1);
      append(vectors_, vectors.values<float>());
      vector_starts_.push_back(vector_starts_.back() + vectors.extent(0));
    }
  }

  void finish(const EmbeddingTotals&) override {
    std::vector<formats::NamedTensor> tensors;
    if (job_.kinds.dense) {
      Tensor all = Tensor::uninitialized({job_.dtype, {rows_, static_cast<std::int64_t>(job_.numbers)}});
      std::ranges::copy(dense_, all.mutable_bytes().begin());
      tensors.push_back({"embeddings", std::move(all)});
    }
    if (job_.kinds.sparse) {
      tensors.push_back({"sparse_indices", list(sparse_indices_)});
      tensors.push_back({"sparse_values", list(sparse_values_)});
      tensors.push_back({"sparse_starts", list(sparse_starts_)});
    }
    if (job_.kinds.multi_vector) {
      tensors.push_back(
          {"multi_vectors", Tensor::from<float>({vector_starts_.back(), width_}, std::span<const float>(vectors_))});
      tensors.push_back({"multi_vector_starts", list(vector_starts_)});
    }
    output_.write(formats::tensor_file_bytes(formats::TensorFileKind::safetensors, tensors));
  }

 private:
  template <typename Number>
  static Tensor list(const std::vector<Number>& numbers) {
    return Tensor::from<Number>({static_cast<std::int64_t>(numbers.size())}, std::span<const Number>(numbers));
  }

  Output& output_;
  EmbeddingJob job_;
  std::vector<std::byte> dense_;
  std::int64_t rows_ = 0;  // of the dense vectors
  std::vector<std::int32_t> sparse_indices_;
  std::vector<float> sparse_values_, vectors_;
  std::vector<std::int64_t> sparse_starts_ = {0}, vector_starts_ = {0};
  std::int64_t width_ = 0;  // of the vectors
};

}  // namespace

std::unique_ptr<EmbeddingWriter> make_dense_tensor_writer(formats::TensorFileKind kind, Output& output,
                                                          const EmbeddingJob& job) {
  return std::make_unique<DenseTensorWriter>(kind, output, job);
}

std::unique_ptr<EmbeddingWriter> make_kind_tensor_writer(Output& output, const EmbeddingJob& job) {
  return std::make_unique<KindTensorWriter>(output, job);
}

}  // namespace alate::app
