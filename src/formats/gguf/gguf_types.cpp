#include "formats/gguf/gguf_types.h"

#include <algorithm>
#include <array>

namespace alate::formats {
namespace {

using Kind = tensor::EncodingKind;

constexpr GgmlType plain(std::uint32_t number, std::string_view name, std::uint32_t bytes, DType dtype) {
  return {number, name, 1, bytes, dtype, std::nullopt};
}

constexpr GgmlType blocks(std::uint32_t number, std::string_view name, std::uint32_t elements, std::uint32_t bytes,
                          std::optional<Kind> encoding = std::nullopt) {
  return {number, name, elements, bytes, DType::invalid, encoding};
}

// 4, 5, 31 to 33 and 36 to 38 were types that ggml has removed.
constexpr std::array kTypes = {
    plain(0, "f32", 4, DType::f32),
    plain(1, "f16", 2, DType::f16),
    blocks(2, "q4_0", 32, 18, Kind::q4_0),
    blocks(3, "q4_1", 32, 20, Kind::q4_1),
    blocks(6, "q5_0", 32, 22, Kind::q5_0),
    blocks(7, "q5_1", 32, 24, Kind::q5_1),
    blocks(8, "q8_0", 32, 34, Kind::q8_0),
    blocks(9, "q8_1", 32, 40),
    blocks(10, "q2_K", 256, 84, Kind::q2_k),
    blocks(11, "q3_K", 256, 110, Kind::q3_k),
    blocks(12, "q4_K", 256, 144, Kind::q4_k),
    blocks(13, "q5_K", 256, 176, Kind::q5_k),
    blocks(14, "q6_K", 256, 210, Kind::q6_k),
    blocks(15, "q8_K", 256, 292),
    blocks(16, "iq2_xxs", 256, 66),
    blocks(17, "iq2_xs", 256, 74),
    blocks(18, "iq3_xxs", 256, 98),
    blocks(19, "iq1_s", 256, 50),
    blocks(20, "iq4_nl", 32, 18, Kind::iq4_nl),
    blocks(21, "iq3_s", 256, 110),
    blocks(22, "iq2_s", 256, 82),
    blocks(23, "iq4_xs", 256, 136, Kind::iq4_xs),
    plain(24, "i8", 1, DType::i8),
    plain(25, "i16", 2, DType::i16),
    plain(26, "i32", 4, DType::i32),
    plain(27, "i64", 8, DType::i64),
    plain(28, "f64", 8, DType::f64),
    blocks(29, "iq1_m", 256, 56),
    plain(30, "bf16", 2, DType::bf16),
    blocks(34, "tq1_0", 256, 54, Kind::tq1_0),
    blocks(35, "tq2_0", 256, 66, Kind::tq2_0),
    blocks(39, "mxfp4", 32, 17, Kind::mxfp4),
    blocks(40, "nvfp4", 64, 36),
    blocks(41, "q1_0", 128, 18),
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t number) {
  const auto found = std::ranges::lower_bound(kTypes, number, {}, &GgmlType::number);
  return found != kTypes.end() && found->number == number ? &*found : nullptr;
}

const GgmlType* find_ggml_type(std::string_view name) {
  const auto found = std::ranges::find_if(
      kTypes, [&](const GgmlType& type) { return std::ranges::equal(type.name, name, {}, lower, lower); });
  return found != kTypes.end() ? &*found : nullptr;
}

}  // namespace alate::formats
