#include "formats/tensor_file.h"

#include <gtest/gtest.h>

#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

TEST(TensorFile, ReadsWhatItWritesByExtension) {
  const base::TemporaryFolder folder;
  const NamedTensor one{"x", Tensor::from<float>({2}, {1.5F, -2})};
  for (const char* name : {"a.safetensors", "b.npz", "x.npy", "C.NPZ"}) {
    write_tensors(folder.path() / name, {&one, 1});
    const std::vector<NamedTensor> read = read_tensors(folder.path() / name);
    ASSERT_EQ(read.size(), 1U) << name;
    EXPECT_EQ(read[0].name, "x") << name;
    EXPECT_EQ(read[0].tensor.values<float>()[1], -2) << name;
  }
  EXPECT_EQ(bytes_of_file(folder.path() / "b.npz"), bytes_of_file(folder.path() / "C.NPZ"));
}

TEST(TensorFile, RefusesOtherExtensions) {
  for (const char* name : {"a.txt", "a", ".npz", "a.npz.gz"}) {
    EXPECT_TRUE(contains(refusal([&] { tensor_file_kind(name); }), "unsupported: ")) << name;
    EXPECT_TRUE(contains(refusal([&] { read_tensors(name); }), "tensors are in .safetensors, .npz and .npy")) << name;
    EXPECT_TRUE(contains(refusal([&] { write_tensors(name, {}); }), "unsupported: ")) << name;
  }
}

TEST(TensorFile, AnNpyFileHoldsOneTensor) {
  const NamedTensor two[] = {{"a", Tensor::scalar(1)}, {"b", Tensor::scalar(2)}};
  EXPECT_TRUE(contains(refusal([&] { tensor_file_bytes(TensorFileKind::npy, two); }), "but there are 2"));
  EXPECT_TRUE(contains(refusal([&] { tensor_file_bytes(TensorFileKind::npy, {}); }), "but there are 0"));
}

TEST(TensorFile, NamesTheMissingFile) {
  EXPECT_TRUE(contains(refusal([&] { read_tensors("/nowhere/a.npz"); }), "not_found"));
}

}  // namespace
}  // namespace alate::formats
