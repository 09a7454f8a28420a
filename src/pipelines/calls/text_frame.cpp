#include "pipelines/calls/text_frame.h"

#include <cstddef>

namespace alate::pipelines {

Frame frame_of(const Tokenizer& tokenizer) {
  EncodeOptions options;
  options.with_offsets = options.with_tokens = false;
  const Encoding encoding = tokenizer.encode("a", options);
  Frame frame;
  std::size_t begin = 0, end = encoding.ids.size();
  while (begin < end && encoding.special_mask[begin] != 0) frame.before.push_back(encoding.ids[begin++]);
  while (end > begin && encoding.special_mask[end - 1] != 0) --end;
  frame.after.assign(encoding.ids.begin() + static_cast<std::ptrdiff_t>(end), encoding.ids.end());
  return frame;
}

}  // namespace alate::pipelines
