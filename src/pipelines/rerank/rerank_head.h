// From the logits of a cross-encoder to the one number of a pair.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/loading/entry_point.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {

/// The output "logits": of a model with one label its logit; of one with two, how far the second's is above the
/// first's, whose sigmoid is the second's probability. Throws unsupported for more. Refers to `model`.
runtime::Head rerank_head(const Model::State& model);

/// The same number through a class of torch.nn, "Tanh"; compiled at its first use. Throws unsupported for a class that
/// is not known here.
std::shared_ptr<const runtime::EntryPoint> activated_rerank_entry_point(const Model::State& model,
                                                                        std::string_view activation);

}  // namespace alate::pipelines
