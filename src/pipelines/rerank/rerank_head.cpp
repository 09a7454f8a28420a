#include "pipelines/rerank/rerank_head.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "alate/error.h"
#include "graph/builder_functions.h"
#include "models/encoder.h"
#include "pipelines/embed/torch_activations.h"
#include "pipelines/task_head.h"

namespace alate::pipelines {
namespace {

graph::Value pair_logit(graph::Builder& b, const models::BuiltEncoder& built, const Model::State& model) {
  const auto logits = std::ranges::find(built.outputs, "logits", &models::EncoderOutput::name);
  const std::int64_t labels = b.shape(logits->value).dims.at(1).number();  // [sequences, labels]
  if (labels == 1) return logits->value;
  if (labels != 2)
    throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder), "' has ", labels,
                     " labels, and a reranker has one or two: ", class_of(model));
  return b.sub({graph::column(b, logits->value, 1), graph::column(b, logits->value, 0)});
}

}  // namespace

runtime::Head rerank_head(const Model::State& model) {
  return [&model](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
    b.output("logits", pair_logit(b, built, model));
  };
}

std::shared_ptr<const runtime::EntryPoint> activated_rerank_entry_point(const Model::State& model,
                                                                        std::string_view activation) {
  if (!is_torch_activation(activation) || activation == "GLU")
    throw make_error(ErrorCode::unsupported, "the model '", runtime::shown_name(model.folder),
                     "' makes scores by an activation_fn that is not known here; ask for raw scores, or for those from "
                     "0 to 1: ",
                     activation);
  const std::string function(activation);
  const auto head = [&model, function](graph::Builder& b, const models::EncoderInputs&,
                                       const models::BuiltEncoder& built) {
    b.output("scores", torch_activation(b, function, pair_logit(b, built, model)));
  };
  return model.entry_point("rerank " + function, head, models::HeadChoice::of_folder);
}

}  // namespace alate::pipelines
