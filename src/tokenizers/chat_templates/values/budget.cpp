#include "tokenizers/chat_templates/values/budget.h"

#include "alate/error.h"

namespace alate::tokenizers::chat_templates {
namespace {

constexpr std::uint64_t kWork = 1'000'000, kWorkPerByte = 40;
constexpr std::uint64_t kMemory = std::uint64_t{32} << 20, kMemoryPerByte = 64;
constexpr std::uint64_t kText = std::uint64_t{8} << 20, kTextPerByte = 16;
constexpr std::uint64_t kBytesPerUnit = 32;

}  // namespace

Budget::Budget(std::size_t input_bytes)
    : max_work_(kWork + kWorkPerByte * input_bytes),
      max_allocated_(kMemory + kMemoryPerByte * input_bytes),
      max_text_(kText + kTextPerByte * input_bytes) {}

void Budget::refuse_work() {
  throw Error(ErrorCode::resource_exhausted,
              "the chat template does more work than a conversation of this size may take: it loops without end, or "
              "its cost grows faster than the conversation");
}

void Budget::grow_text(std::uint64_t size, std::uint64_t added) {
  if (added > max_text_ || size + added > max_text_) {
    throw make_error(ErrorCode::resource_exhausted, "the chat template makes a text of more than ", max_text_,
                     " bytes, the limit for a conversation of this size");
  }
  work(added / kBytesPerUnit);
}

void Budget::allocate(std::size_t bytes) {
  if (bytes > max_allocated_ - allocated_) {
    throw make_error(ErrorCode::resource_exhausted, "the chat template takes more than ", max_allocated_,
                     " bytes of memory, the limit for a conversation of this size");
  }
  allocated_ += bytes;
  work(bytes / kBytesPerUnit);
}

void Builder::append_repeated(std::string_view part, std::uint64_t count) {
  if (part.empty() || count == 0) return;
  std::uint64_t added = 0;
  if (__builtin_mul_overflow(part.size(), count, &added)) added = ~std::uint64_t{0} >> 1;
  budget_.grow_text(text_.size(), added);
  text_.reserve(text_.size() + added);
  for (std::uint64_t i = 0; i < count; ++i) text_ += part;
}

}  // namespace alate::tokenizers::chat_templates
