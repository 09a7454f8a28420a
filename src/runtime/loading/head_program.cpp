#include "runtime/loading/head_program.h"

#include <utility>
#include <vector>

#include "runtime/loading/entry_point.h"

namespace alate::runtime {

HeadProgram::HeadProgram(std::unique_ptr<backends::Executable> executable, Rounding rounding,
                         std::shared_ptr<const formats::WeightSource> weights)
    : executable_(std::move(executable)), rounding_(std::move(rounding)), weights_(std::move(weights)) {}

std::size_t HeadProgram::width() const {
  return static_cast<std::size_t>(executable_->outputs().front().shape.dims.back().number());
}

Tensor HeadProgram::run(Tensor hidden, const backends::RunOptions& options) const {
  std::vector<backends::Buffer> inputs, outputs(executable_->outputs().size());
  inputs.emplace_back(std::move(hidden));
  const std::vector<backends::Buffer> padded =
      rounding_.empty() ? inputs : rounding_.pad(inputs, executable_->inputs());
  with_unchanged_files(weights_.get(), [&] { executable_->run(padded, outputs, options); });
  const Tensor result = *outputs.front().host();
  if (rounding_.empty()) return result;
  return rounding_.cut(result, executable_->outputs().front(), inputs, executable_->inputs());
}

}  // namespace alate::runtime
