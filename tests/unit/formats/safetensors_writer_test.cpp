#include "formats/safetensors/safetensors_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "formats/safetensors/safetensors.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

std::string refusal_of(const std::vector<NamedTensor>& tensors) {
  return refusal([&] { safetensors_bytes(tensors); });
}

TEST(SafetensorsWriter, WritesTheReferenceWritersBytes) {
  for (const char* name :
       {"types.safetensors", "shapes.safetensors", "empty.safetensors", "metadata.safetensors", "names.safetensors"}) {
    const auto file = SafetensorsFile::open(golden(name));
    std::vector<NamedTensor> tensors;
    for (const TensorEntry& entry : file->entries()) tensors.push_back({entry.name, file->tensor(entry.name)});
    std::ranges::reverse(tensors);
    EXPECT_EQ(safetensors_bytes(tensors, file->metadata()), bytes_of_file(golden(name))) << name;
  }
}

TEST(SafetensorsWriter, WritesFilesThatReadBack) {
  const base::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "out.safetensors";
  const NamedTensor tensors[] = {{"b", Tensor::from<float>({2}, {1.5F, -2})}, {"a", Tensor::from<bool>({1}, {true})}};
  write_safetensors(path, tensors, {{"k2", "v"}, {"k1", "w"}});
  const auto file = SafetensorsFile::open(path);
  EXPECT_EQ(file->names(), (std::vector<std::string_view>{"b", "a"}));
  EXPECT_EQ(file->tensor("b").values<float>()[1], -2);
  EXPECT_EQ(file->metadata(), (std::map<std::string, std::string>{{"k1", "w"}, {"k2", "v"}}));
  EXPECT_EQ(file->find("b")->begin % 8, 0U);
}

// Made in pieces of all sizes, also larger than what is collected for one write.
TEST(SafetensorsWriter, StreamedTensorsGiveTheSameBytes) {
  const base::TemporaryFolder folder;
  std::vector<float> numbers(700001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000);
  const Tensor large =
      Tensor::from<float>({static_cast<std::int64_t>(numbers.size())}, std::span<const float>(numbers));
  const Tensor small = Tensor::from<std::uint8_t>({3}, {1, 2, 3});
  const NamedTensor whole[] = {{"b", large}, {"a", small}, {"c", Tensor::zeros({DType::i8, {0}})}};
  for (const std::size_t piece : {1000, 1048576, 2000000, 100000000}) {
    std::vector<StreamedTensor> streamed;
    for (const NamedTensor& each : whole)
      streamed.push_back({each.name, each.tensor.shape(), [&each, piece](const StreamedTensor::Sink& sink) {
                            for (auto left = each.tensor.bytes(); !left.empty();) {
                              const std::size_t taken = std::min(piece, left.size());
                              sink(left.first(taken));
                              left = left.subspan(taken);
                            }
                          }});
    base::AtomicFile file(folder.path() / "out.safetensors");
    write_safetensors(file, streamed, {{"k", "v"}});
    file.commit();
    const std::vector<std::byte> wanted = safetensors_bytes(whole, {{"k", "v"}});
    const auto written = base::MappedFile::open(folder.path() / "out.safetensors", base::MappedFile::Mode::read);
    EXPECT_TRUE(std::ranges::equal(written->bytes(), wanted)) << piece;
  }
}

TEST(SafetensorsWriter, StreamedTensorsHaveTheBytesOfTheirShape) {
  const base::TemporaryFolder folder;
  for (const std::size_t count : {0, 7, 9}) {
    const StreamedTensor tensor{"a", {DType::f64, {1}}, [&](const StreamedTensor::Sink& sink) {
                                  const std::vector<std::byte> bytes(count);
                                  sink(bytes);
                                }};
    base::AtomicFile file(folder.path() / "out.safetensors");
    EXPECT_TRUE(contains(refusal([&] { write_safetensors(file, std::span(&tensor, 1)); }), "bytes of 8"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out.safetensors"));
}

TEST(SafetensorsWriter, RefusesWhatTheFormatCannotHold) {
  const Tensor one = Tensor::scalar(1.0F);
  EXPECT_TRUE(contains(refusal_of({{"a", one}, {"b", one}, {"a", one}}), "the name \"a\" is given to two tensors"));
  EXPECT_TRUE(contains(refusal_of({{"__metadata__", one}}), "cannot be called __metadata__"));
  EXPECT_TRUE(contains(refusal_of({{"\xFF", one}}), "no UTF-8"));
  EXPECT_TRUE(contains(refusal_of({{"a", Tensor()}}), "has no value"));
  EXPECT_TRUE(contains(refusal_of({{"a", Tensor::zeros({DType::i4, {2}})}}), "unsupported: tensor \"a\" is of i4"));
  EXPECT_TRUE(contains(refusal_of({{"a", Tensor::zeros({DType::f4e2m1fn, {3}})}}), "does not fill whole bytes"));
  EXPECT_TRUE(contains(refusal([&] { safetensors_bytes({}, {{"k", "\xC0\x80"}}); }), "no UTF-8"));
}

}  // namespace
}  // namespace alate::formats
