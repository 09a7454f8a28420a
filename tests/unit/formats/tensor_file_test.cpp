#include "formats/tensor_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

TEST(TensorFile, AHeadForAGrowingTensorIsAsLongForAnyNumberOfRows) {
  const base::TemporaryFolder folder;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  for (const TensorFileKind kind : {TensorFileKind::npy, TensorFileKind::safetensors}) {
    const auto head = [&](std::int64_t rows) { return growing_tensor_head(kind, "t", Shape{DType::f32, {rows, 3}}); };
    for (const std::int64_t rows : {1, 9, 10, 123456, 1000000000}) EXPECT_EQ(head(rows).size(), head(0).size());
    std::string file = head(2);
    file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    const auto named = folder.write(kind == TensorFileKind::npy ? "t.npy" : "t.safetensors", file);
    const auto tensors = read_tensors(named);
    ASSERT_EQ(tensors.size(), 1U);
    EXPECT_EQ(tensors[0].name, "t");
    EXPECT_EQ(tensors[0].tensor.shape(), (Shape{DType::f32, {2, 3}}));
    EXPECT_TRUE(std::ranges::equal(tensors[0].tensor.values<float>(), values));
  }
  EXPECT_TRUE(contains(refusal([] { growing_tensor_head(TensorFileKind::npz, "t", Shape{DType::f32, {1}}); }), "grow"));
  EXPECT_TRUE(contains(refusal([] { growing_tensor_head(TensorFileKind::npy, "t", Shape{DType::f32, {}}); }), "grow"));
}

}  // namespace
}  // namespace alate::formats
