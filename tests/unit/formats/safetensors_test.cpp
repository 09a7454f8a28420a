#include "formats/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "formats/little_endian.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

std::string file_of(std::string_view header, std::string_view data) {
  std::string bytes;
  append_little_endian<std::uint64_t>(bytes, header.size());
  bytes += header;
  bytes += data;
  return bytes;
}

std::string refusal_of(const std::string& file) {
  return refusal([&] { parse_safetensors_header(std::as_bytes(std::span(file)), "f.safetensors"); });
}

// A file with one tensor "a" of this description and these bytes.
std::string refusal_of_tensor(std::string_view description, std::size_t data_bytes) {
  return refusal_of(file_of("{\"a\":" + std::string(description) + "}", std::string(data_bytes, '\0')));
}

template <typename T>
void expect_values(const SafetensorsFile& file, std::string_view name, std::vector<T> values) {
  const Tensor tensor = file.tensor(name);
  EXPECT_EQ(tensor.shape(), detail::shape_of(dtype_of<T>(), {2, 3})) << name;
  const std::span<const T> found = tensor.values<T>();
  EXPECT_TRUE(std::ranges::equal(found, values)) << name;
}

// bf16 is the upper half of an f32.
TEST(Safetensors, ReadsEveryTypeOfTheReferenceWriter) {
  const auto file = SafetensorsFile::open(golden("types.safetensors"));
  EXPECT_EQ(file->entries().size(), 16U);
  expect_values<std::uint8_t>(*file, "uint8", {0, 1, 2, 3, 4, 5});
  expect_values<std::uint16_t>(*file, "uint16", {0, 1, 2, 3, 4, 5});
  expect_values<std::uint32_t>(*file, "uint32", {0, 1, 2, 3, 4, 5});
  expect_values<std::uint64_t>(*file, "uint64", {0, 1, 2, 3, 4, 5});
  expect_values<std::int8_t>(*file, "int8", {-2, -1, 0, 1, 2, 3});
  expect_values<std::int16_t>(*file, "int16", {-2, -1, 0, 1, 2, 3});
  expect_values<std::int32_t>(*file, "int32", {-2, -1, 0, 1, 2, 3});
  expect_values<std::int64_t>(*file, "int64", {-2, -1, 0, 1, 2, 3});
  expect_values<float>(*file, "float32", {-1, -0.5, 0, 0.5, 1, 1.5});
  expect_values<double>(*file, "float64", {-1, -0.5, 0, 0.5, 1, 1.5});
  expect_values<bool>(*file, "bool", {false, true, false, true, false, true});

  const auto expect_bytes = [&](std::string_view name, DType dtype, std::vector<int> wanted) {
    const Tensor tensor = file->tensor(name);
    EXPECT_EQ(tensor.dtype(), dtype);
    std::vector<int> found;
    for (const std::byte byte : tensor.bytes()) found.push_back(std::to_integer<int>(byte));
    EXPECT_EQ(found, wanted) << name;
  };
  expect_bytes("bfloat16", DType::bf16, {0x80, 0xBF, 0x00, 0xBF, 0, 0, 0x00, 0x3F, 0x80, 0x3F, 0xC0, 0x3F});
  expect_bytes("float16", DType::f16, {0x00, 0xBC, 0x00, 0xB8, 0, 0, 0x00, 0x38, 0x00, 0x3C, 0x00, 0x3E});
  expect_bytes("float8_e5m2", DType::f8e5m2, {0xBC, 0xB8, 0, 0x38, 0x3C, 0x3E});
  expect_bytes("float8_e4m3fn", DType::f8e4m3fn, {0xB8, 0xB0, 0, 0x30, 0x38, 0x3C});
  float pairs[12];
  ASSERT_EQ(file->tensor("complex64").byte_count(), sizeof pairs);
  std::memcpy(pairs, file->tensor("complex64").bytes().data(), sizeof pairs);
  EXPECT_EQ(pairs[2], -0.5F);
  EXPECT_EQ(pairs[3], 1.0F);
}

TEST(Safetensors, ReadsScalarsAndEmptyTensors) {
  const auto file = SafetensorsFile::open(golden("shapes.safetensors"));
  EXPECT_EQ(file->metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_EQ(file->tensor("scalar").shape(), (Shape{DType::f32, {}}));
  EXPECT_EQ(file->tensor("scalar").values<float>()[0], -1.0F);
  EXPECT_EQ(file->tensor("none").shape(), (Shape{DType::f32, {0}}));
  EXPECT_EQ(file->tensor("none.inside").shape(), (Shape{DType::f32, {2, 0, 3}}));
  EXPECT_EQ(file->tensor("none.inside").byte_count(), 0U);
  EXPECT_EQ(file->tensor("cube").values<float>()[7], 2.5F);
}

TEST(Safetensors, ReadsFilesWithoutTensors) {
  EXPECT_TRUE(SafetensorsFile::open(golden("empty.safetensors"))->names().empty());
  const auto file = SafetensorsFile::open(golden("metadata.safetensors"));
  EXPECT_TRUE(file->names().empty());
  EXPECT_EQ(file->metadata().at("quote\"d"), "tab\tline\nbell\a back\\slash /\u00e9\u65e5");
}

TEST(Safetensors, ListsNamesInTheOrderOfTheBytes) {
  const std::string file = file_of(
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"c":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      "xy");
  const base::TemporaryFolder folder;
  const auto opened = SafetensorsFile::open(folder.write("f.safetensors", file));
  EXPECT_EQ(opened->names(), (std::vector<std::string_view>{"c", "b"}));
  EXPECT_EQ(opened->tensor("b").values<std::uint8_t>()[0], 'y');
  EXPECT_EQ(opened->find("d"), nullptr);
  EXPECT_EQ(opened->find("c")->begin, file.size() - 2);
}

TEST(Safetensors, BorrowsTheMappedBytes) {
  const auto file = SafetensorsFile::open(golden("types.safetensors"));
  EXPECT_EQ(file->tensor("float32").bytes().data(), file->file().bytes().data() + file->find("float32")->begin);
  EXPECT_TRUE(file->tensor("float32").shares_storage_with(file->tensor("float32")));
}

TEST(Safetensors, TensorsOutliveTheFile) {
  const Tensor tensor = SafetensorsFile::open(golden("types.safetensors"))->tensor("int32");
  EXPECT_EQ(tensor.values<std::int32_t>()[5], 3);
}

TEST(Safetensors, ReadsTheSameWithoutMapping) {
  const auto file = SafetensorsFile::open(golden("types.safetensors"), base::MappedFile::Mode::read);
  expect_values<float>(*file, "float32", {-1, -0.5, 0, 0.5, 1, 1.5});
}

TEST(Safetensors, CopiesMisalignedTensors) {
  const float value = 1.5F;
  std::string data(1, 'x');
  data.append(reinterpret_cast<const char*>(&value), sizeof value);
  std::string header =
      R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"f":{"dtype":"F32","shape":[],"data_offsets":[1,5]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const base::TemporaryFolder folder;
  const auto file = SafetensorsFile::open(folder.write("f.safetensors", file_of(header, data)));
  EXPECT_EQ(file->tensor("f").values<float>()[0], value);
  EXPECT_NE(file->tensor("f").bytes().data(), file->file().bytes().data() + file->find("f")->begin);
}

TEST(Safetensors, MakesBoolsZeroOrOne) {
  const base::TemporaryFolder folder;
  const auto file = SafetensorsFile::open(
      folder.write("f.safetensors",
                   file_of(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\2\xFF", 3))));
  EXPECT_EQ(file->tensor("a").bytes()[1], std::byte{1});
  EXPECT_EQ(file->tensor("a").bytes()[2], std::byte{1});
  EXPECT_EQ(file->tensor("a").bytes()[0], std::byte{0});
}

TEST(Safetensors, NamesTheMissingTensorAndTheFile) {
  const auto file = SafetensorsFile::open(golden("types.safetensors"));
  for (const std::string& message :
       {refusal([&] { file->tensor("nope"); }), refusal([&] { file->identity("nope"); })}) {
    EXPECT_TRUE(contains(message, "not_found: "));
    EXPECT_TRUE(contains(message, "types.safetensors has no tensor \"nope\""));
  }
}

TEST(Safetensors, IdentitiesFollowNameAndFile) {
  const auto file = SafetensorsFile::open(golden("types.safetensors"));
  EXPECT_EQ(file->identity("int8"), SafetensorsFile::open(golden("types.safetensors"))->identity("int8"));
  EXPECT_EQ(file->identity("int8"), SafetensorsFile::open(golden("sharded/../types.safetensors"))->identity("int8"));
  EXPECT_NE(file->identity("int8"), file->identity("int16"));
  const base::TemporaryFolder folder;
  std::filesystem::copy(golden("types.safetensors"), folder.path() / "types.safetensors");
  EXPECT_NE(file->identity("int8"), SafetensorsFile::open(folder.path() / "types.safetensors")->identity("int8"));
}

TEST(SafetensorsHeader, AcceptsWhatTheReferenceReaderAccepts) {
  EXPECT_EQ(refusal_of(file_of("{}", "")), "accepted");
  EXPECT_EQ(refusal_of(file_of("  {}   ", "")), "accepted");
  EXPECT_EQ(refusal_of(file_of(R"({"__metadata__":null})", "")), "accepted");
  EXPECT_EQ(refusal_of(file_of(R"({"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x")), "accepted");
  EXPECT_EQ(refusal_of_tensor(R"({"dtype":"F32","shape":[],"data_offsets":[0,4],"later":[[1]]})", 4), "accepted");
  EXPECT_EQ(refusal_of_tensor(R"({"dtype":"F32","shape":[0,9223372036854775807,9],"data_offsets":[0,0]})", 0),
            "accepted");
  EXPECT_EQ(refusal_of_tensor(R"({"dtype":"F4","shape":[4],"data_offsets":[0,2]})", 2), "accepted");
  EXPECT_EQ(refusal_of_tensor(R"({"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]})", 4), "accepted");
  EXPECT_EQ(refusal_of(file_of(R"({"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},)"
                               R"("y":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                               "x")),
            "accepted");
}

TEST(SafetensorsHeader, RefusesFilesThatAreTooShort) {
  EXPECT_TRUE(contains(refusal_of(""), "corrupt: f.safetensors: the file has 0 bytes"));
  EXPECT_TRUE(contains(refusal_of("1234567"), "the file has 7 bytes"));
  EXPECT_TRUE(contains(refusal_of(file_of("{}", "").substr(0, 9)), "says it has 2 bytes, but the file ends after 1"));
}

TEST(SafetensorsHeader, RefusesOversizedHeaders) {
  std::string bytes;
  append_little_endian<std::uint64_t>(bytes, 100'000'001);
  EXPECT_TRUE(contains(refusal_of(bytes + "{}"), "says it has 100000001 bytes; the limit is 100000000"));
  bytes.clear();
  append_little_endian<std::uint64_t>(bytes, ~std::uint64_t{0});
  EXPECT_TRUE(contains(refusal_of(bytes + "{}"), "says it has 18446744073709551615 bytes; the limit"));
}

TEST(SafetensorsHeader, RefusesHeadersThatAreNoObjects) {
  EXPECT_TRUE(contains(refusal_of(file_of("[]", "")), "is no JSON object"));
  EXPECT_TRUE(contains(refusal_of(file_of("", "")), "ends too early"));
  EXPECT_TRUE(contains(refusal_of(file_of("{\"a\":}", "")), "JSON, byte 5"));
  EXPECT_TRUE(contains(refusal_of(file_of("{\"\xFF\":1}", "")), "byte 2: this is no UTF-8"));
  EXPECT_TRUE(contains(refusal_of(file_of(std::string("{}\0", 3), "")), "more text"));
}

TEST(SafetensorsHeader, RefusesDeepJson) {
  EXPECT_TRUE(contains(refusal_of_tensor("{\"later\":" + std::string(1000, '[') + std::string(1000, ']') + "}", 0),
                       "nested too deeply"));
}

TEST(SafetensorsHeader, RefusesDuplicateNames) {
  const std::string_view info = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_TRUE(contains(refusal_of(file_of("{\"a\":" + std::string(info) + ",\"a\":" + std::string(info) + "}", "x")),
                       "the key \"a\" occurs twice"));
}

TEST(SafetensorsHeader, RefusesBadDescriptions) {
  EXPECT_TRUE(contains(refusal_of_tensor("[]", 0), "tensor \"a\": its description is no object"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"shape":[1],"data_offsets":[0,1]})", 1), "it has no dtype"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","data_offsets":[0,1]})", 1), "it has no shape"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1]})", 1), "it has no data_offsets"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":8,"shape":[1],"data_offsets":[0,1]})", 1), "dtype is no string"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U9","shape":[1],"data_offsets":[0,1]})", 1), "no such dtype"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"u8","shape":[1],"data_offsets":[0,1]})", 1), "no such dtype"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":1,"data_offsets":[0,1]})", 1), "shape is no array"));
}

TEST(SafetensorsHeader, SaysWhichTypesItCannotUse) {
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]})", 3),
                       "unsupported: f.safetensors: tensor \"a\": elements of type F6_E2M3"));
}

TEST(SafetensorsHeader, RefusesBadExtents) {
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[-1],"data_offsets":[0,1]})", 1), "negative"));
  EXPECT_TRUE(
      contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1.0],"data_offsets":[0,1]})", 1), "other than integers"));
  EXPECT_TRUE(
      contains(refusal_of_tensor(R"({"dtype":"U8","shape":["1"],"data_offsets":[0,1]})", 1), "other than integers"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[9223372036854775808,0],"data_offsets":[0,0]})", 0),
                       "does not fit in 63 bits"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0),
                       "more bytes than can be counted"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]})", 0),
                       "more bytes than can be counted"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", 2), "fill whole bytes"));
}

TEST(SafetensorsHeader, RefusesBadOffsets) {
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":[0]})", 1), "no pair"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":[0,1,1]})", 1), "no pair"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":"01"})", 1), "no pair"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":[-1,0]})", 1), "negative"));
  EXPECT_TRUE(
      contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":[1,0]})", 1), "before they begin"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})", 1), "past the 1 bytes"));
  EXPECT_TRUE(contains(
      refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":[9223372036854775807,9223372036854775808]})", 1),
      "does not fit in 63 bits"));
}

TEST(SafetensorsHeader, RefusesSizesThatDifferFromTheShape) {
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,23]})", 24),
                       "f32[2,3] takes 24 bytes, but data_offsets span 23"));
}

TEST(SafetensorsHeader, RefusesOverlapsGapsAndTrailingBytes) {
  const auto two = [](int begin, int end) {
    return file_of(
        R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[)" +
            std::to_string(begin) + "," + std::to_string(end) + "]}}",
        "12345");
  };
  EXPECT_TRUE(contains(refusal_of(two(1, 3)), "tensor \"b\": its bytes overlap"));
  EXPECT_TRUE(contains(refusal_of(two(0, 2)), "tensor \"b\": its bytes overlap"));
  EXPECT_TRUE(contains(refusal_of(two(3, 5)), "tensor \"b\": there is a gap of 1 bytes before it"));
  EXPECT_TRUE(contains(refusal_of(two(2, 4)), "1 bytes after the last tensor"));
  EXPECT_TRUE(contains(refusal_of(file_of("{}", "x")), "1 bytes after the last tensor"));
  EXPECT_TRUE(contains(refusal_of_tensor(R"({"dtype":"U8","shape":[1],"data_offsets":[1,2]})", 2), "gap of 1 bytes"));
}

TEST(SafetensorsHeader, RefusesMetadataThatIsNoMapOfStrings) {
  EXPECT_TRUE(contains(refusal_of(file_of(R"({"__metadata__":[]})", "")), "__metadata__ is no object"));
  EXPECT_TRUE(contains(refusal_of(file_of(R"({"__metadata__":{"a":1}})", "")), "other than strings"));
}

}  // namespace
}  // namespace alate::formats
