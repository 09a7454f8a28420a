#include "formats/npy/npz.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "formats/little_endian.h"
#include "formats/npy/npy.h"
#include "formats/zip_writer.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

using Archive = std::vector<std::byte>;

std::string refusal_of(const Archive& archive, const ZipLimits& limits = {}) {
  return refusal([&] { parse_npz(archive, "f.npz", limits); });
}

Archive one_array() {
  const NamedTensor one{"x", Tensor::from<std::int32_t>({2}, {7, 8})};
  return npz_bytes({&one, 1});
}

Archive with(Archive archive, std::size_t at, int byte) {
  archive.at(at) = std::byte(byte);
  return archive;
}

// Where the fields of one_array() lie: the local header is at 0, the directory's one record before the last 22 bytes.
constexpr std::size_t kNameBytes = 5;  // "x.npy"
std::size_t end_record(const Archive& archive) { return archive.size() - 22; }
std::size_t central_record(const Archive& archive) { return end_record(archive) - 46 - kNameBytes; }

TEST(Npz, ReadsStoredArraysOfNumPy) {
  const std::vector<NamedTensor> tensors = read_npz(golden("stored.npz"));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "input_ids");
  EXPECT_EQ(tensors[0].tensor.shape(), (Shape{DType::i64, {2, 3}}));
  EXPECT_EQ(tensors[0].tensor.values<std::int64_t>()[5], 3);
  EXPECT_EQ(tensors[1].name, "attention_mask");
  EXPECT_EQ(tensors[1].tensor.values<std::uint8_t>()[5], 5);
}

TEST(Npz, ReadsDeflatedArraysOfNumPy) {
  const std::vector<NamedTensor> tensors = read_npz(golden("deflated.npz"));
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].tensor.values<std::int64_t>()[0], -2);
  EXPECT_EQ(tensors[2].name, "zeros");
  EXPECT_EQ(tensors[2].tensor.shape(), (Shape{DType::f32, {64, 64}}));
  EXPECT_EQ(tensors[2].tensor.values<float>()[4095], 0.0F);
}

TEST(Npz, WritesArchivesThatReadBack) {
  const base::TemporaryFolder folder;
  const NamedTensor tensors[] = {{"b", Tensor::from<float>({2}, {1.5F, -2})},
                                 {"\u00e9/a", Tensor::from<bool>({1}, {true})},
                                 {"none", Tensor::zeros({DType::f64, {0, 2}})}};
  write_npz(folder.path() / "a.npz", tensors);
  const std::vector<NamedTensor> read = read_npz(folder.path() / "a.npz");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].tensor.values<float>()[1], -2);
  EXPECT_EQ(read[1].name, "\u00e9/a");
  EXPECT_TRUE(read[1].tensor.values<bool>()[0]);
  EXPECT_EQ(read[2].tensor.shape(), (Shape{DType::f64, {0, 2}}));
}

TEST(Npz, AnArchiveMayBeEmpty) { EXPECT_TRUE(parse_npz(npz_bytes({}), "f.npz").empty()); }

TEST(Npz, RefusesNamesThatItCannotWrite) {
  const NamedTensor twice[] = {{"a", Tensor::scalar(1)}, {"a", Tensor::scalar(2)}};
  EXPECT_TRUE(contains(refusal([&] { npz_bytes(twice); }), "the name \"a\" is given to two tensors"));
  const NamedTensor broken{"\xFF", Tensor::scalar(1)};
  EXPECT_TRUE(contains(refusal([&] { npz_bytes({&broken, 1}); }), "no UTF-8"));
}

TEST(Npz, RefusesEntriesThatAreNoArrays) {
  ZipWriter writer;
  writer.add("readme.txt", {});
  EXPECT_TRUE(contains(refusal_of(writer.finish()), "unsupported: f.npz: entry \"readme.txt\" is no .npy file"));
  writer.add("x.npy", {});
  EXPECT_TRUE(contains(refusal_of(writer.finish()), "entry \"x.npy\" is empty"));
  writer.add("x.npy", std::as_bytes(std::span("text")));
  EXPECT_TRUE(contains(refusal_of(writer.finish()), "f.npz: entry \"x.npy\": this is no .npy file"));
}

TEST(Npz, RefusesEveryTruncation) {
  const Archive whole = one_array();
  EXPECT_EQ(refusal_of(whole), "accepted");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(contains(refusal_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "corrupt"))
        << size;
  }
}

TEST(Npz, ChecksTheSumOfEachEntry) {
  const Archive whole = one_array();
  EXPECT_TRUE(contains(refusal_of(with(whole, central_record(whole) - 1, 1)),
                       "entry \"x.npy\" of the zip archive does not have the sum"));
  const Archive deflated = bytes_of_file(golden("deflated.npz"));
  const std::size_t middle = list_zip(deflated, "f.npz")[2].begin + 8;
  EXPECT_TRUE(
      contains(refusal_of(with(deflated, middle, std::to_integer<int>(deflated[middle]) ^ 0x55)), "\"zeros.npy\""));
}

TEST(Npz, RefusesBrokenDirectories) {
  const Archive whole = one_array();
  const std::size_t central = central_record(whole), end = end_record(whole);
  EXPECT_TRUE(contains(refusal_of(with(whole, central, 0)), "its directory ends too early"));
  EXPECT_TRUE(contains(refusal_of(with(whole, end + 10, 2)), "its directory ends too early"));
  EXPECT_TRUE(contains(refusal_of(with(whole, end + 10, 0)), "longer than its entries"));
  EXPECT_TRUE(contains(refusal_of(with(whole, end + 19, 0x7F)), "its directory lies outside it"));
  EXPECT_TRUE(contains(refusal_of(with(whole, end + 4, 1)), "unsupported: f.npz: the zip archive is split"));
  EXPECT_TRUE(contains(refusal_of(with(whole, central + 8, 1)), "unsupported: f.npz: the zip archive is encrypted"));
  EXPECT_TRUE(contains(refusal_of(with(whole, central + 10, 12)), "neither stored nor deflated"));
  EXPECT_TRUE(contains(refusal_of(with(whole, central + 42, 1)), "header of an entry is not where it should be"));
  EXPECT_TRUE(contains(refusal_of(with(whole, 30, 'y')), "an entry has two names"));
  EXPECT_TRUE(contains(refusal_of(with(whole, central + 24, 1)), "a stored entry has two sizes"));
  EXPECT_TRUE(contains(refusal_of(with(whole, central + 21, 0x7F)), "lie outside it"));
  EXPECT_TRUE(contains(refusal_of(with(with(whole, 30, 0xFF), central + 46, 0xFF)), "no UTF-8"));
}

TEST(Npz, RefusesSaturatedFieldsWithoutZip64Records) {
  Archive whole = one_array();
  const std::size_t central = central_record(whole), end = end_record(whole);
  Archive entry = whole;
  for (std::size_t i = 0; i < 4; ++i) entry[central + 24 + i] = std::byte{0xFF};
  EXPECT_TRUE(contains(refusal_of(entry), "the zip64 sizes of an entry are missing"));
  for (std::size_t i = 0; i < 4; ++i) whole[end + 16 + i] = std::byte{0xFF};
  EXPECT_TRUE(contains(refusal_of(whole), "the zip64 end record is missing"));
}

// The same archive with every size and place moved to zip64 records, as writers do past 4 GiB.
Archive as_zip64(const Archive& archive) {
  const std::size_t central = central_record(archive);
  const auto saturate = [](Archive& bytes, std::size_t at, std::size_t count) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, std::byte{0xFF});
  };
  const std::span<const std::byte> old(archive);
  const std::uint32_t size = load_little_endian<std::uint32_t>(old.subspan(central + 24));
  Archive record(old.begin() + static_cast<std::ptrdiff_t>(central),
                 old.begin() + static_cast<std::ptrdiff_t>(end_record(archive)));
  saturate(record, 20, 8);
  saturate(record, 42, 4);
  record[30] = std::byte{4 + 28};
  append_little_endian<std::uint16_t>(record, 0x5555);  // a field of another kind first
  append_little_endian<std::uint16_t>(record, 0);
  append_little_endian<std::uint16_t>(record, 1);
  append_little_endian<std::uint16_t>(record, 24);
  for (const std::uint64_t number : {std::uint64_t{size}, std::uint64_t{size}, std::uint64_t{0}}) {
    append_little_endian(record, number);
  }
  Archive out(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(central));
  out.insert(out.end(), record.begin(), record.end());
  const std::uint64_t end64 = out.size();
  append_little_endian<std::uint32_t>(out, 0x06064b50);
  out.resize(out.size() + 20);
  for (const std::uint64_t number :
       {std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{record.size()}, std::uint64_t{central}}) {
    append_little_endian(out, number);
  }
  append_little_endian<std::uint32_t>(out, 0x07064b50);
  append_little_endian<std::uint32_t>(out, 0);
  append_little_endian(out, end64);
  append_little_endian<std::uint32_t>(out, 1);
  const std::size_t end = out.size();
  out.insert(out.end(), old.end() - 22, old.end());
  saturate(out, end + 8, 12);
  return out;
}

TEST(Npz, ReadsZip64Records) {
  const Archive archive = as_zip64(one_array());
  const std::vector<NamedTensor> tensors = parse_npz(archive, "f.npz");
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].tensor.values<std::int32_t>()[1], 8);
  for (std::size_t size = 0; size < archive.size(); ++size) {
    EXPECT_TRUE(
        contains(refusal_of({archive.begin(), archive.begin() + static_cast<std::ptrdiff_t>(size)}), "corrupt"));
  }
  // Behind the end record, and so far away that adding to it would wrap.
  const std::size_t place = archive.size() - 22 - 20 + 8;
  EXPECT_TRUE(contains(refusal_of(with(archive, place + 1, 0x7F)), "zip64 end record is not where it should be"));
  EXPECT_TRUE(contains(refusal_of(with(archive, place + 7, 0xFF)), "zip64 end record is not where it should be"));
  // The directory's place and size are 64-bit numbers of their own.
  EXPECT_TRUE(contains(refusal_of(with(archive, place - 8 - 1, 0xFF)), "its directory lies outside it"));
  EXPECT_TRUE(contains(refusal_of(with(archive, place - 8 - 9, 0xFF)), "its directory lies outside it"));
}

TEST(Npz, RefusesOverlappingEntriesAndDuplicateNames) {
  ZipWriter writer;
  writer.add("x.npy", {});
  writer.add("y.npy", {});
  Archive archive = writer.finish();
  const std::size_t second = end_record(archive) - 46 - kNameBytes;
  Archive same_place = archive;
  std::memset(&same_place[second + 42], 0, 4);
  same_place[second + 46] = std::byte{'x'};
  EXPECT_TRUE(contains(refusal_of(same_place), "two entries overlap"));
  archive[second + 46] = archive[(30 + kNameBytes) + 30] = std::byte{'x'};
  EXPECT_TRUE(contains(refusal_of(archive), "the name \"x.npy\" occurs twice"));
}

TEST(Npz, BoundsWhatAnArchiveMayHold) {
  EXPECT_TRUE(contains(refusal_of(bytes_of_file(golden("deflated.npz")), {.max_inflated_bytes = 10000}),
                       "resource_exhausted: f.npz: the zip archive inflates to more than 10000 bytes"));
  EXPECT_TRUE(contains(refusal_of(bytes_of_file(golden("deflated.npz")), {.max_entries = 2}),
                       "resource_exhausted: f.npz: the zip archive has 3 entries; the limit is 2"));
  EXPECT_EQ(refusal_of(bytes_of_file(golden("stored.npz")), {.max_inflated_bytes = 0}), "accepted");
}

// The directory's size is not believed: neither one past what deflate can reach nor one that is merely wrong.
TEST(Npz, RefusesFalseSizes) {
  const Archive deflated = bytes_of_file(golden("deflated.npz"));
  const std::size_t last = end_record(deflated) - 46 - std::string_view("zeros.npy").size();
  EXPECT_TRUE(contains(refusal_of(with(deflated, last + 26, 0x10)), "inflates to more than is possible"));
  EXPECT_TRUE(contains(refusal_of(with(deflated, last + 24, 1)), "does not inflate to its size"));
}

}  // namespace
}  // namespace alate::formats
