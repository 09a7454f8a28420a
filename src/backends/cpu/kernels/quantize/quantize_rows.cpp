#include "backends/cpu/kernels/quantize/quantize_rows.h"

#include "backends/cpu/kernels/quantize/quantize_kernels.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/kernels/vectors/scratch.h"

namespace alate::cpu {

std::size_t quantized_row_words(std::size_t width, std::size_t groups, WordKind kind) {
  const std::size_t values = values_per_word(kind);
  return groups * ((width / groups + values - 1) / values);
}

QuantizeArguments rows_to_quantize(const QuantizeArguments& arguments, std::size_t begin, std::size_t end) {
  QuantizeArguments part = arguments;
  const std::size_t scales_stride = part.scales_stride == 0 ? part.groups : part.scales_stride;
  if (part.x != nullptr) part.x += begin * part.x_stride;
  part.words = static_cast<float*>(part.words) + begin * part.words_stride;
  part.scales += begin * scales_stride;
  part.offsets += begin * scales_stride;
  part.rows = end - begin;
  return part;
}

QuantizeArguments group_to_quantize(const QuantizeArguments& arguments, std::size_t group) {
  QuantizeArguments part = arguments;
  part.width = arguments.width / arguments.groups;
  part.groups = 1;
  part.scales_stride = arguments.scales_stride == 0 ? arguments.groups : arguments.scales_stride;
  if (part.x != nullptr) part.x += group * part.width;
  if (part.smoothing != nullptr) part.smoothing += group * part.width;
  part.words = static_cast<float*>(part.words) + group * quantized_row_words(part.width, 1, part.kind);
  part.scales += group;
  part.offsets += group;
  return part;
}

void take_rotation_scratch(QuantizeArguments& arguments) {
  if (arguments.rotation > 1)
    arguments.rotated =
        thread_scratch(kRotatedGroups * (arguments.width / arguments.groups), ThreadScratch::rotated_groups);
}

void quantize_rows(const QuantizeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                   const Kernels& set) {
  split_rows(arguments.rows, arguments.width * 2, pool, max_workers, [&](std::size_t begin, std::size_t end) {
    QuantizeArguments part = rows_to_quantize(arguments, begin, end);
    take_rotation_scratch(part);
    quantize_kernels(set).quantize_rows(part);
  });
}

}  // namespace alate::cpu
