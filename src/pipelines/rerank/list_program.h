// The vectors that a reranker of many texts compares, batch by batch: those of some tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "alate/tokenizer.h"
#include "runtime/batching/batch_program.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

/// The ids of kTextToken and kQueryToken.
struct ListTokens {
  std::int32_t text = 0, query = 0;
};

/// Whether config.json names jina-reranker-v3's class.
bool ranks_lists(const Model::State& model);

/// Throws unsupported for a tokenizer without the tokens.
ListTokens read_list_tokens(const Model::State& model, const Tokenizer& tokenizer);

/// The entry point that gives the vector of each token; compiled at its first use.
std::shared_ptr<const runtime::EntryPoint> list_entry_point(const Model::State& model);
/// Its head, which refers to the model.
runtime::Head list_head();

/// A row's numbers are the vector of its token `query`, then one of each token `text`. Thread-safe.
class ListProgram final : public runtime::BatchProgram {
 public:
  /// `encoder` gives a vector of each token.
  ListProgram(std::shared_ptr<const runtime::EntryPoint> encoder, ListTokens tokens)
      : encoder_(std::move(encoder)), tokens_(tokens), size_(encoder_->numbers_per_token()) {}

  std::size_t vector_size() const { return size_; }
  std::size_t width(const runtime::BatchRow& row) const override {
    return size_ * (1 + static_cast<std::size_t>(std::ranges::count(row.ids, tokens_.text)));
  }
  /// REQUIRES: each row has the token `query` once.
  Tensor run_rows(std::span<const runtime::BatchRow* const> rows, const backends::RunOptions& options) const override;

 private:
  std::shared_ptr<const runtime::EntryPoint> encoder_;
  ListTokens tokens_;
  std::size_t size_;
};

}  // namespace alate::pipelines
