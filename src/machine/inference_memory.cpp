// The estimate of inference memory from sizes only.
#include <array>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "alate/error.h"
#include "alate/memory.h"
#include "base/byte_text.h"

namespace alate {
namespace {

// A number of bytes or elements with overflow checks.
class Checked {
 public:
  Checked(std::uint64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  friend Checked operator+(Checked a, Checked b) {
    Checked sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum.value_)) refuse();
    return sum;
  }
  friend Checked operator*(Checked a, Checked b) {
    Checked product = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &product.value_)) refuse();
    return product;
  }
  std::uint64_t value() const { return value_; }

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::invalid_argument,
                "these sizes make more bytes than a 64-bit number holds: give smaller ones");
  }
  std::uint64_t value_;
};

}  // namespace

InferenceMemory estimate_inference_memory(std::uint64_t hidden, std::uint64_t intermediate, std::uint64_t layers,
                                          std::uint64_t vocab, std::uint64_t heads, std::uint64_t kv_heads,
                                          std::uint64_t max_seq, std::uint64_t dtype_bytes) {
  const std::initializer_list<std::pair<const char*, std::uint64_t>> sizes = {
      {"hidden", hidden}, {"intermediate", intermediate}, {"layers", layers},   {"vocab", vocab},
      {"heads", heads},   {"kv_heads", kv_heads},         {"max_seq", max_seq}, {"dtype_bytes", dtype_bytes}};
  for (const auto& [name, size] : sizes) {
    if (size == 0) throw make_error(ErrorCode::invalid_argument, name, " is 0: give a size of at least 1");
  }
  if (hidden % heads != 0)
    throw make_error(ErrorCode::invalid_argument, heads, " heads do not divide a hidden size of ", hidden);
  if (heads % kv_heads != 0)
    throw make_error(ErrorCode::invalid_argument, kv_heads, " key/value heads do not divide ", heads, " heads");
  const Checked h = hidden, i = intermediate, b = dtype_bytes, kv_width = Checked(kv_heads) * (hidden / heads);
  const Checked layer = Checked(2) * h * h + Checked(2) * h * kv_width + Checked(3) * h * i + Checked(2) * h;
  const Checked model = (Checked(layers) * layer + Checked(2) * vocab * h + h) * b;
  const Checked kv_cache = Checked(2) * layers * max_seq * kv_width * b;
  const Checked activations = (h + Checked(2) * i) * 2 * b;
  (model + kv_cache + activations).value();  // the sum must fit too
  return {.model = model.value(), .kv_cache = kv_cache.value(), .activations = activations.value()};
}

std::string human_bytes(std::uint64_t bytes) { return base::byte_text(bytes); }

}  // namespace alate
