#include "runtime/decoding/greedy.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "runtime/decoding/step_loop.h"
#include "runtime/loading/loaded_model.h"
#include "runtime/loading/packed_forward.h"
#include "runtime/loading/step_program.h"

namespace alate::runtime {
namespace {

// Of equal ones the first.
std::int32_t most_likely(std::span<const float> logits, std::size_t row) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != logits[i])
      throw make_error(ErrorCode::corrupt, "row ", row, ": the model gives logits that are not numbers");
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<std::int32_t>(best);
}

}  // namespace

Tensor greedy_ids(const Model::State& model, const NamedTensors& inputs, std::size_t count,
                  const backends::RunOptions& options) {
  const std::vector<std::vector<std::int32_t>> rows = visible_rows(inputs, model.limits());
  const std::shared_ptr<const StepProgram> program = model.step_program();
  Tensor result =
      Tensor::zeros({DType::i64, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(count)}});
  StepLoop loop(program, loop_options(*program));
  std::exception_ptr failure;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].empty() || count == 0) continue;
    if (rows[row].size() + count - 1 > static_cast<std::size_t>(model.limits().positions))
      throw make_error(ErrorCode::invalid_argument, "row ", row, " has ", rows[row].size(), " tokens, which with ",
                       count, " more are above the ", model.limits().positions, " positions that the model has");
    const std::span<std::int64_t> found = result.mutable_values<std::int64_t>().subspan(row * count, count);
    StepJob job;
    job.prompt = rows[row];
    job.choose = [row, found, made = std::size_t{0}](std::span<const float> logits, std::size_t) mutable {
      const std::int32_t token = most_likely(logits, row);
      found[made++] = token;
      return made < found.size() ? std::optional(token) : std::nullopt;
    };
    job.done = [&](const StepResult& ended) {
      if (failure == nullptr) failure = ended.error;
    };
    loop.add(std::make_shared<LiveSequence>(std::move(job)));
  }
  while (!loop.empty() && failure == nullptr) loop.step(options);
  if (failure != nullptr) std::rethrow_exception(failure);
  return result;
}

}  // namespace alate::runtime
