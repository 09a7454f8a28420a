#include "formats/npy/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "formats/little_endian.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

// A file of format 1.0 with this header and so many bytes of zero.
std::string file_of(std::string_view header, std::size_t data_bytes) {
  std::string bytes("\x93NUMPY\1\0", 8);
  append_little_endian<std::uint16_t>(bytes, static_cast<std::uint16_t>(header.size()));
  return bytes.append(header).append(data_bytes, '\0');
}

std::string refusal_of(const std::string& file) {
  return refusal([&] { parse_npy(std::as_bytes(std::span(file)), nullptr, "f.npy"); });
}

template <typename T>
void expect_values(std::string_view name, std::vector<T> values) {
  const Tensor tensor = read_npy(golden(name));
  EXPECT_EQ(tensor.shape(), detail::shape_of(dtype_of<T>(), {2, 3})) << name;
  EXPECT_TRUE(std::ranges::equal(tensor.values<T>(), values)) << name;
}

TEST(Npy, ReadsEveryTypeOfNumPy) {
  expect_values<bool>("bool.npy", {false, true, false, true, false, true});
  expect_values<std::uint8_t>("uint8.npy", {0, 1, 2, 3, 4, 5});
  expect_values<std::uint16_t>("uint16.npy", {0, 1, 2, 3, 4, 5});
  expect_values<std::uint32_t>("uint32.npy", {0, 1, 2, 3, 4, 5});
  expect_values<std::uint64_t>("uint64.npy", {0, 1, 2, 3, 4, 5});
  expect_values<std::int8_t>("int8.npy", {-2, -1, 0, 1, 2, 3});
  expect_values<std::int16_t>("int16.npy", {-2, -1, 0, 1, 2, 3});
  expect_values<std::int32_t>("int32.npy", {-2, -1, 0, 1, 2, 3});
  expect_values<std::int64_t>("int64.npy", {-2, -1, 0, 1, 2, 3});
  expect_values<float>("float32.npy", {-1, -0.5, 0, 0.5, 1, 1.5});
  expect_values<double>("float64.npy", {-1, -0.5, 0, 0.5, 1, 1.5});
  EXPECT_EQ(read_npy(golden("float16.npy")).dtype(), DType::f16);
  EXPECT_EQ(read_npy(golden("complex64.npy")).shape(), (Shape{DType::c64, {2, 3}}));
  EXPECT_EQ(read_npy(golden("complex128.npy")).shape(), (Shape{DType::c128, {2, 3}}));
}

TEST(Npy, ReadsOtherShapesAndVersions) {
  EXPECT_EQ(read_npy(golden("scalar.npy")).shape(), (Shape{DType::f32, {}}));
  EXPECT_EQ(read_npy(golden("none.npy")).shape(), (Shape{DType::f32, {0, 3}}));
  EXPECT_EQ(read_npy(golden("vector.npy")).values<std::int32_t>()[11], 9);
  expect_values<float>("version_2.npy", {-1, -0.5, 0, 0.5, 1, 1.5});
  expect_values<float>("version_3.npy", {-1, -0.5, 0, 0.5, 1, 1.5});
}

// Recorded from position - 2 in row-major order, saved in Fortran's.
TEST(Npy, ConvertsFortranOrder) {
  const Tensor tensor = read_npy(golden("fortran.npy"));
  EXPECT_EQ(tensor.shape(), (Shape{DType::i16, {2, 3, 4}}));
  for (std::int16_t i = 0; i < 24; ++i) EXPECT_EQ(tensor.values<std::int16_t>()[static_cast<std::size_t>(i)], i - 2);
}

TEST(Npy, WritesNumPysBytes) {
  for (const char* name : {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16",
                           "float32", "float64", "complex64", "complex128", "scalar", "none", "vector"}) {
    const std::filesystem::path path = golden(std::string(name) + ".npy");
    EXPECT_EQ(npy_bytes(read_npy(path), name), bytes_of_file(path)) << name;
  }
}

TEST(Npy, WritesFilesThatReadBack) {
  const base::TemporaryFolder folder;
  write_npy(folder.path() / "a.npy", Tensor::from<double>({1, 2}, {0.25, -4}));
  EXPECT_EQ(read_npy(folder.path() / "a.npy").values<double>()[1], -4);
}

TEST(Npy, RefusesWhatItCannotHold) {
  EXPECT_TRUE(contains(refusal([&] {
                         npy_bytes(Tensor::zeros({DType::bf16, {2}}), "x");
                       }),
                       "unsupported: tensor \"x\" is of bf16"));
  EXPECT_TRUE(contains(refusal([&] { npy_bytes(Tensor(), "x"); }), "has no value"));
}

TEST(Npy, SaysWhichTypesItCannotRead) {
  EXPECT_TRUE(
      contains(refusal([&] { read_npy(golden("big_endian.npy")); }), "big_endian.npy: the numbers are big-endian"));
  EXPECT_TRUE(contains(refusal([&] { read_npy(golden("strings.npy")); }), "NumPy type \"<U2\" cannot be used"));
  EXPECT_TRUE(
      contains(refusal_of(file_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8)), "unsupported"));
  EXPECT_TRUE(contains(refusal_of(file_of("{'descr': '', 'fortran_order': False, 'shape': (1,)}", 8)), "unsupported"));
  EXPECT_TRUE(
      contains(refusal_of(file_of("{'descr': '=f4', 'fortran_order': False, 'shape': (1,)}", 4)), "byte order"));
  EXPECT_TRUE(contains(refusal_of(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4)),
                       "structured"));
}

TEST(Npy, ReadsHeadersThatOthersWrite) {
  EXPECT_EQ(refusal_of(file_of("{\"shape\":(1,2L),\"descr\":\"<f4\",\"fortran_order\":True}", 8)), "accepted");
  EXPECT_EQ(refusal_of(file_of("{'descr': '|u1', 'fortran_order': False, 'shape': ( ), }\n", 1)), "accepted");
}

TEST(Npy, RefusesBrokenHeads) {
  const std::string file = file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4);
  EXPECT_EQ(refusal_of(file), "accepted");
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_TRUE(contains(refusal_of(file.substr(0, size)), "corrupt: f.npy: ")) << size;
  }
  EXPECT_TRUE(contains(refusal_of("PK" + file.substr(2)), "this is no .npy file"));
  std::string other_version = file;
  other_version[6] = 4;
  EXPECT_TRUE(contains(refusal_of(other_version), "unsupported: f.npy: the version"));
  std::string long_header("\x93NUMPY\2\0\1\0\1\0", 12);
  EXPECT_TRUE(contains(refusal_of(long_header), "says it has 65537 bytes; the limit is 65536"));
}

TEST(Npy, RefusesDictsThatAreNoHeader) {
  const auto head = [](std::string_view dict) { return refusal_of(file_of(dict, 4)); };
  EXPECT_TRUE(contains(head("{}"), "must all be there"));
  EXPECT_TRUE(contains(head("{'descr': '<f4', 'shape': (1,)}"), "must all be there"));
  EXPECT_TRUE(contains(head("{'descr': '<f4', 'descr': '<f4'}"), "unknown or occurs twice"));
  EXPECT_TRUE(contains(head("{'other': '<f4'}"), "unknown or occurs twice"));
  EXPECT_TRUE(contains(head("{'shape': (1)}"), "the shape is no tuple"));
  EXPECT_TRUE(contains(head("{'shape': (-1,)}"), "an extent of 0 or more"));
  EXPECT_TRUE(contains(head("{'shape': (1.5,)}"), "',' is expected"));
  EXPECT_TRUE(contains(head("{'shape': (,)}"), "an extent of 0 or more"));
  EXPECT_TRUE(contains(head("{'shape': (99999999999999999999,)}"), "63 bits"));
  EXPECT_TRUE(contains(head("{'fortran_order': 1}"), "True or False"));
  EXPECT_TRUE(contains(head("{'descr': 'a\\'b'}"), "escapes"));
  EXPECT_TRUE(contains(head("{'descr"), "the string has no end"));
  EXPECT_TRUE(contains(head("__import__('os')"), "'{' is expected"));
  EXPECT_TRUE(contains(head("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + 1"), "more text"));
  std::string deep = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_TRUE(contains(head(deep + ")}"), "more than 64 extents"));
}

TEST(Npy, RefusesSizesThatDifferFromTheShape) {
  EXPECT_TRUE(contains(refusal_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7)),
                       "f32[2] takes 8 bytes, but 7 follow the header"));
  EXPECT_TRUE(
      contains(refusal_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9)), "but 9 follow"));
  EXPECT_TRUE(
      contains(refusal_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0)),
               "more bytes than can be counted"));
}

}  // namespace
}  // namespace alate::formats
