#include "formats/npy/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/little_endian.h"

namespace alate::formats {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 16;
constexpr std::size_t kMaxRank = 64;  // NumPy's limit
constexpr std::size_t kAlignment = 64;
// NumPy pads the header so that the first extent can grow to the digits of any 64-bit number.
constexpr std::size_t kGrowthDigits = 21;

struct Row {
  std::string_view code;  // without the byte order
  DType dtype;
};

constexpr std::array kRows = {Row{"b1", DType::boolean}, Row{"i1", DType::i8},   Row{"i2", DType::i16},
                              Row{"i4", DType::i32},     Row{"i8", DType::i64},  Row{"u1", DType::u8},
                              Row{"u2", DType::u16},     Row{"u4", DType::u32},  Row{"u8", DType::u64},
                              Row{"f2", DType::f16},     Row{"f4", DType::f32},  Row{"f8", DType::f64},
                              Row{"c8", DType::c64},     Row{"c16", DType::c128}};

DType dtype_of_code(std::string_view code, std::string_view what) {
  const auto row = std::ranges::find(kRows, code.substr(std::min<std::size_t>(code.size(), 1)), &Row::code);
  if (row == kRows.end()) {
    throw make_error(ErrorCode::unsupported, what, ": elements of NumPy type ", quoted_name(code),
                     " cannot be used; save bools, integers, floats or complex numbers");
  }
  const char order = code.front();
  const bool orderless = bits_of(row->dtype) == 8;
  if (order == '>' && !orderless) {
    throw make_error(ErrorCode::unsupported, what, ": the numbers are big-endian; save them as little-endian (",
                     quoted_name("<" + std::string(row->code)), ")");
  }
  if (order != '<' && !(orderless && (order == '|' || order == '>'))) {
    throw make_error(ErrorCode::unsupported, what, ": the byte order of NumPy type ", quoted_name(code),
                     " is not known; save it as little-endian");
  }
  return row->dtype;
}

// Reads the dict. A literal is a string without escapes, True, False, or a tuple of integers.
class Reader {
 public:
  Reader(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  NpyHeader read() {
    expect('{');
    while (!take('}')) {
      read_member();
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ < text_.size()) refuse("there is more text after the dict");
    if (!dtype_ || !fortran_order_ || !extents_) refuse("descr, fortran_order and shape must all be there");
    return {detail::shape_of(*dtype_, *extents_), *fortran_order_, 0};
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw make_error(ErrorCode::corrupt, what_, ": npy header, byte ", at_, ": ", reason);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse(std::string("'") + wanted + "' is expected");
  }
  std::string_view read_string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) refuse("a string is expected");
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) refuse("the string has no end");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find('\\') != std::string_view::npos) refuse("a string has escapes");
    at_ = end + 1;
    return content;
  }
  void read_member() {
    const std::string_view key = read_string();
    expect(':');
    if (key == "descr" && !dtype_) {
      read_descr();
    } else if (key == "fortran_order" && !fortran_order_) {
      fortran_order_ = read_bool();
    } else if (key == "shape" && !extents_) {
      extents_ = read_extents();
    } else {
      refuse("a key is unknown or occurs twice");
    }
  }
  void read_descr() {
    skip_space();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      throw make_error(ErrorCode::unsupported, what_, ": structured NumPy types cannot be used; save each field alone");
    }
    dtype_ = dtype_of_code(read_string(), what_);
  }
  bool read_bool() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (text_.substr(at_).starts_with(name)) {
        at_ += name.size();
        return value;
      }
    }
    refuse("True or False is expected");
  }
  std::int64_t read_extent() {
    skip_space();
    std::uint64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (end == begin) refuse("an extent of 0 or more is expected");
    if (error != std::errc() || value > INT64_MAX) refuse("an extent does not fit in 63 bits");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's suffix of long integers
    return static_cast<std::int64_t>(value);
  }
  std::vector<std::int64_t> read_extents() {
    expect('(');
    std::vector<std::int64_t> extents;
    bool comma = true;
    while (!take(')')) {
      if (!comma) refuse("',' is expected");
      if (extents.size() == kMaxRank) refuse("there are more than 64 extents");
      extents.push_back(read_extent());
      comma = take(',');
    }
    if (extents.size() == 1 && !comma) refuse("the shape is no tuple");
    return extents;
  }

  std::string_view text_;
  std::string_view what_;
  std::size_t at_ = 0;
  std::optional<DType> dtype_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::int64_t>> extents_;
};

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, std::string_view what) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) throw make_error(ErrorCode::corrupt, what, ": this is no .npy file");
  constexpr std::size_t kVersionEnd = kMagic.size() + 2;
  const auto cut = [&] { return make_error(ErrorCode::corrupt, what, ": the .npy file ends in its header"); };
  if (file.size() < kVersionEnd) throw cut();
  const char major = text[kMagic.size()];
  if (major < 1 || major > 3 || text[kMagic.size() + 1] != 0) {
    throw make_error(ErrorCode::unsupported, what, ": the version of its .npy format is not 1.0, 2.0 or 3.0");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = kVersionEnd + length_bytes;
  if (file.size() < start) throw cut();
  const std::size_t length = major == 1 ? load_little_endian<std::uint16_t>(file.subspan(kVersionEnd))
                                        : load_little_endian<std::uint32_t>(file.subspan(kVersionEnd));
  if (length > kMaxHeaderBytes) {
    throw make_error(ErrorCode::corrupt, what, ": the npy header says it has ", length, " bytes; the limit is ",
                     kMaxHeaderBytes);
  }
  if (length > file.size() - start) throw cut();
  NpyHeader header = Reader(text.substr(start, length), what).read();
  header.byte_count = start + length;
  return header;
}

std::string npy_header_text(const Shape& shape, std::string_view what) {
  const auto row = std::ranges::find(kRows, shape.dtype, &Row::dtype);
  if (row == kRows.end()) {
    throw make_error(ErrorCode::unsupported, "tensor ", quoted_name(what), " is of ", to_string(shape.dtype),
                     ", which NumPy lacks; convert it to f32 first");
  }
  std::string dict = "{'descr': '";
  dict += bits_of(row->dtype) == 8 ? '|' : '<';
  dict += row->code;
  dict += "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) dict += ", ";
    dict += std::to_string(shape.dims[axis].number());
  }
  dict += shape.rank() == 1 ? ",), }" : "), }";
  if (shape.rank() > 0) dict.append(kGrowthDigits - std::to_string(shape.dims[0].number()).size(), ' ');

  constexpr std::size_t kBeforeDict = 10;
  dict.append(kAlignment - (kBeforeDict + dict.size() + 1) % kAlignment, ' ');
  dict += '\n';
  std::string text(kMagic);
  text += '\1';
  text += '\0';
  append_little_endian<std::uint16_t>(text, static_cast<std::uint16_t>(dict.size()));
  return text + dict;
}

}  // namespace alate::formats
