#include "pipelines/rerank/list_program.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "pipelines/modules/model_class.h"
#include "pipelines/rerank/list_prompt.h"
#include "pipelines/tasks/task_head.h"
#include "pipelines/tasks/tasks.h"

namespace alate::pipelines {

bool ranks_lists(const Model::State& model) {
  return model.form->architecture() != nullptr && class_of(model).ends_with(kRanking);
}

ListTokens read_list_tokens(const Model::State& model, const Tokenizer& tokenizer) {
  const auto id_of = [&](std::string_view token) {
    const std::optional<std::int32_t> id = tokenizer.token_to_id(token);
    if (id && *id < model.limits().vocabulary) return *id;
    throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder),
                     "' ranks lists of texts, for which it needs the token ", token,
                     "; its tokenizer has none: ", token);
  };
  return {.text = id_of(kTextToken), .query = id_of(kQueryToken)};
}

runtime::Head list_head() { return outputs_of_head({"embeddings"}); }

std::shared_ptr<const runtime::EntryPoint> list_entry_point(const Model::State& model) {
  return model.entry_point("rank lists", list_head(), models::HeadChoice::of_folder);
}

Tensor ListProgram::run_rows(std::span<const runtime::BatchRow* const> rows,
                             const backends::RunOptions& options) const {
  const Tensor all = encoder_->run_rows(rows, options);
  const std::span<const float> vectors = all.values<float>();
  std::size_t numbers = 0;
  for (const runtime::BatchRow* row : rows) numbers += width(*row);
  Tensor result = Tensor::zeros({DType::f32, {static_cast<std::int64_t>(numbers)}});
  std::span<float> left = result.mutable_values<float>();
  std::size_t token = 0;
  for (const runtime::BatchRow* row : rows) {
    const std::span<float> own = left.first(width(*row));
    std::span<float> texts = own.subspan(size_);
    for (const std::int32_t id : row->ids) {
      const std::span<const float> vector = vectors.subspan(token * size_, size_);
      ++token;
      if (id == tokens_.query) std::ranges::copy(vector, own.begin());
      if (id != tokens_.text) continue;
      std::ranges::copy(vector, texts.begin());
      texts = texts.subspan(size_);
    }
    left = left.subspan(own.size());
  }
  return result;
}

}  // namespace alate::pipelines
