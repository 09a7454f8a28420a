#include "formats/safetensors/safetensors_writer.h"

#include <gtest/gtest.h>

#include <algorithm>

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
