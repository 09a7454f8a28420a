#include "formats/safetensors/safetensors_dtypes.h"

#include <algorithm>
#include <array>

namespace alate::formats {
namespace {

// In the order of the reference implementation's enumeration (safetensors 0.8, `Dtype`), by which its writer sorts.
constexpr std::array kRows = {
    SafetensorsDType{"BOOL", DType::boolean, 8},
    SafetensorsDType{"F4", DType::f4e2m1fn, 4},
    SafetensorsDType{"F6_E2M3", DType::invalid, 6},
    SafetensorsDType{"F6_E3M2", DType::invalid, 6},
    SafetensorsDType{"U8", DType::u8, 8},
    SafetensorsDType{"I8", DType::i8, 8},
    SafetensorsDType{"F8_E5M2", DType::f8e5m2, 8},
    SafetensorsDType{"F8_E4M3", DType::f8e4m3fn, 8},
    SafetensorsDType{"F8_E8M0", DType::f8e8m0fnu, 8},
    SafetensorsDType{"F8_E4M3FNUZ", DType::f8e4m3fnuz, 8},
    SafetensorsDType{"F8_E5M2FNUZ", DType::f8e5m2fnuz, 8},
    SafetensorsDType{"I16", DType::i16, 16},
    SafetensorsDType{"U16", DType::u16, 16},
    SafetensorsDType{"F16", DType::f16, 16},
    SafetensorsDType{"BF16", DType::bf16, 16},
    SafetensorsDType{"I32", DType::i32, 32},
    SafetensorsDType{"U32", DType::u32, 32},
    SafetensorsDType{"F32", DType::f32, 32},
    SafetensorsDType{"C64", DType::c64, 64},
    SafetensorsDType{"F64", DType::f64, 64},
    SafetensorsDType{"I64", DType::i64, 64},
    SafetensorsDType{"U64", DType::u64, 64},
};

}  // namespace

const SafetensorsDType* find_safetensors_dtype(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &SafetensorsDType::name);
  return row == kRows.end() ? nullptr : &*row;
}

const SafetensorsDType* find_safetensors_dtype(DType dtype) {
  const auto row = std::ranges::find(kRows, dtype, &SafetensorsDType::dtype);
  return row == kRows.end() || dtype == DType::invalid ? nullptr : &*row;
}

}  // namespace alate::formats
