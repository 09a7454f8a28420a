#include "alate/late_interaction.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/kernels.h"
#include "base/threads/controlled_call.h"
#include "base/threads/thread_pool.h"

namespace alate {
namespace {

MatrixView matrix_of(const Tensor& tensor) {
  return {.values = tensor.values<float>(),
          .rows = static_cast<std::size_t>(tensor.extent(0)),
          .columns = static_cast<std::size_t>(tensor.extent(1))};
}

void require_matrix(const Tensor& tensor, const std::string& what) {
  if (tensor.dtype() == DType::f32 && tensor.rank() == 2) return;
  throw make_error(ErrorCode::invalid_argument, what, " is ", to_string(tensor.shape()),
                   "; late interaction compares matrices f32[vectors,dimensions]");
}

float score_of(const KernelBackend& kernels, const MatrixView& query, const MatrixView& document) {
  if (document.rows == 0 || document.columns == 0) return 0;
  double sum = 0;
  std::vector<float> products(document.rows);
  for (std::size_t i = 0; i < query.rows; ++i) {
    kernels.matmul_vec_into(document, query.values.subspan(i * query.columns, query.columns), products);
    sum += *std::ranges::max_element(products);
  }
  return static_cast<float>(sum);
}

}  // namespace

std::vector<float> late_interaction_scores(const Tensor& query, std::span<const Tensor> documents,
                                           const RunControl& control) {
  require_matrix(query, "the query");
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string what = "document " + std::to_string(i);
    require_matrix(documents[i], what);
    if (documents[i].extent(1) != query.extent(1))
      throw make_error(ErrorCode::invalid_argument, what, " has vectors of ", documents[i].extent(1),
                       " numbers, and the query of ", query.extent(1));
  }
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    // A document is scored by one thread.
    const std::shared_ptr<const KernelBackend> kernels =
        init_backend(BackendPlace::parse("cpu"), {.use_parallel = false});
    std::vector<float> scores(documents.size());
    base::ThreadPool::shared().parallel_for(documents.size(), 0, [&](std::size_t i, std::size_t) {
      call.cancellation().check();
      scores[i] = score_of(*kernels, matrix_of(query), matrix_of(documents[i]));
    });
    return scores;
  });
}

}  // namespace alate
