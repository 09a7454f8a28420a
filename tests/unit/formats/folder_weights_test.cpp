#include "formats/folder_weights.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/contained_files.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/safetensors_writer.h"
#include "formats/weight_source.h"
#include "tests/unit/base/logged_warnings.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = "model.safetensors.index.json";

std::string refusal_of_index(const base::TemporaryFolder& folder, std::string_view index) {
  folder.write(kIndex, index);
  return refusal([&] { FolderWeights::open(folder.path()); });
}

TEST(FolderWeights, JoinsTheShardsOfTheReferenceWriter) {
  const FolderWeights model = FolderWeights::open(golden("sharded"));
  EXPECT_EQ(model.files().size(), 2U);
  EXPECT_EQ(model.names(), (std::vector<std::string_view>{"b", "a", "c"}));
  EXPECT_EQ(model.tensor("a").values<float>()[2], 0.0F);
  EXPECT_EQ(model.tensor("b").values<std::int64_t>()[0], -2);
  EXPECT_EQ(model.tensor("c").values<float>()[3], 0.5F);
  EXPECT_EQ(model.identity("c"), SafetensorsFile::open(model.files()[1].path)->identity("c"));
  EXPECT_FALSE(model.contains("d"));
  EXPECT_TRUE(contains(refusal([&] { model.tensor("d"); }), "not_found"));
}

TEST(FolderWeights, IsASourceOfWeights) {
  const std::shared_ptr<const WeightSource> source = open_weights(golden("sharded"));
  EXPECT_EQ(source->names(), (std::vector<std::string_view>{"b", "a", "c"}));
  const std::optional<WeightInfo> info = source->info("c");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->shape, source->tensor("c").shape());
  EXPECT_EQ(info->bytes, source->tensor("c").byte_count());
  EXPECT_FALSE(info->encoding.has_value());
  EXPECT_FALSE(source->info("d").has_value());
  std::uint64_t bytes = 0;
  for (const std::string_view name : source->names()) bytes += source->tensor(name).byte_count();
  EXPECT_EQ(source->stored_bytes(), bytes);
  for (const WeightFile& file : source->files()) EXPECT_EQ(file.bytes.size(), std::filesystem::file_size(file.path));
}

TEST(FolderWeights, ReadsAgainAfterRelease) {
  const FolderWeights model = FolderWeights::open(golden("sharded"));
  const Tensor tensor = model.tensor("c");
  model.release("c");
  EXPECT_EQ(tensor.values<float>()[3], 0.5F);
  EXPECT_TRUE(contains(refusal([&] { model.release("d"); }), "not_found"));
}

TEST(FolderWeights, PrefersTheSingleFile) {
  const base::TemporaryFolder folder;
  const NamedTensor one{"x", Tensor::scalar(1.0F)};
  write_safetensors(folder.path() / "model.safetensors", {&one, 1});
  folder.write(kIndex, "not read");
  EXPECT_EQ(FolderWeights::open(folder.path()).names(), (std::vector<std::string_view>{"x"}));
}

TEST(FolderWeights, ReadsTheShardsWhateverTheIndexSaysOfTheirTensors) {
  const base::TemporaryFolder folder;
  const NamedTensor first[] = {{"x", Tensor::scalar(1.0F)}, {"y", Tensor::scalar(2.0F)}};
  const NamedTensor second[] = {{"y", Tensor::scalar(3.0F)}, {"z", Tensor::scalar(4.0F)}};
  write_safetensors(folder.path() / "a.safetensors", first);
  write_safetensors(folder.path() / "b.safetensors", second);
  folder.write(kIndex, R"({"weight_map": {"y": "a.safetensors", "z": "b.safetensors", "gone": "a.safetensors"}})");
  const base::LoggedWarnings warnings;
  const FolderWeights model = FolderWeights::open(folder.path());
  EXPECT_EQ(model.names(), (std::vector<std::string_view>{"x", "y", "z"}));
  EXPECT_EQ(model.tensor("x").values<float>()[0], 1.0F);
  EXPECT_EQ(model.tensor("y").values<float>()[0], 3.0F);  // of the last shard, as transformers loads one after another
  EXPECT_EQ(model.info("gone"), std::nullopt);
  ASSERT_EQ(warnings.lines().size(), 3U);
  const std::string both = std::string(" index=") + std::string(kIndex) + " file=a.safetensors tensor=";
  EXPECT_TRUE(contains(warnings.lines()[0], both + "gone count=1")) << warnings.lines()[0];
  EXPECT_TRUE(contains(warnings.lines()[1], both + "y count=1")) << warnings.lines()[1];
  EXPECT_TRUE(contains(warnings.lines()[2], both + "x count=1")) << warnings.lines()[2];
}

TEST(FolderWeights, WarnsOfNothingWhereIndexAndShardsAgree) {
  const base::LoggedWarnings warnings;
  FolderWeights::open(golden("sharded"));
  EXPECT_TRUE(warnings.lines().empty());
}

TEST(FolderWeights, ASingleFileOfAnyNameIsOneOfTheFolder) {
  const base::TemporaryFolder folder;
  const NamedTensor one{"x", Tensor::scalar(1.0F)};
  fs::create_directory(folder.path() / "model");
  write_safetensors(folder.path() / "outside.safetensors", {&one, 1});
  fs::create_symlink("../outside.safetensors", folder.path() / "model/adapter_model.safetensors");
  const base::ContainedFiles contained(folder.path() / "model");
  EXPECT_TRUE(contains(refusal([&] {
                         open_weight_file(folder.path() / "model/adapter_model.safetensors",
                                          base::MappedFile::Mode::read, contained);
                       }),
                       "leads out of the model's folder"));
}

TEST(FolderWeights, NamesWhatIsMissing) {
  const base::TemporaryFolder folder;
  EXPECT_TRUE(contains(refusal([&] { FolderWeights::open(folder.path()); }),
                       "has neither model.safetensors nor model.safetensors.index.json"));
  EXPECT_TRUE(contains(refusal_of_index(folder, R"({"weight_map":{"x":"gone.safetensors"}})"),
                       "the shard \"gone.safetensors\" is missing"));
  EXPECT_TRUE(contains(refusal_of_index(folder, R"({"weight_map":{"x":")" + std::string(5000, 's') + "\"}}"),
                       "is no plain file name"));
}

TEST(FolderWeights, RefusesShardsOutsideTheFolder) {
  const base::TemporaryFolder folder;
  folder.write("s.safetensors", "");
  for (const char* name :
       {"../s.safetensors", "/etc/hostname", "a/b", "..", ".", "", "a\\\\b", "s\\u0000.safetensors"}) {
    EXPECT_TRUE(contains(refusal_of_index(folder, R"({"weight_map":{"x":")" + std::string(name) + "\"}}"),
                         "is no plain file name"))
        << name;
  }
}

TEST(FolderWeights, FollowsNoLinksOutOfTheFolder) {
  const base::TemporaryFolder folder;
  const NamedTensor one{"x", Tensor::scalar(1.0F)};
  const std::filesystem::path model = folder.path() / "model";
  std::filesystem::create_directory(model);
  write_safetensors(folder.path() / "outside.safetensors", {&one, 1});
  write_safetensors(model / "inside.safetensors", {&one, 1});
  const auto open = [&] { return FolderWeights::open(model); };
  folder.write("model/" + std::string(kIndex), R"({"weight_map": {"x": "link.safetensors"}})");
  std::filesystem::create_symlink("inside.safetensors", model / "link.safetensors");
  EXPECT_TRUE(open().contains("x"));
  std::filesystem::remove(model / "link.safetensors");
  std::filesystem::create_symlink("../outside.safetensors", model / "link.safetensors");
  EXPECT_TRUE(contains(refusal(open), "leads out of the model's folder"));
  std::filesystem::create_symlink("../outside.safetensors", model / "model.safetensors");
  EXPECT_TRUE(contains(refusal(open), "leads out of the model's folder"));
}

TEST(FolderWeights, RefusesMoreShardsThanAnyModelHas) {
  const base::TemporaryFolder folder;
  std::string index = R"({"weight_map": {"t": "s")";
  for (int i = 0; i < 5000; ++i) index += ", \"t" + std::to_string(i) + "\": \"s" + std::to_string(i) + "\"";
  EXPECT_TRUE(contains(refusal_of_index(folder, index + "}}"), "shards"));
}

TEST(FolderWeights, RefusesBrokenIndexes) {
  const base::TemporaryFolder folder;
  EXPECT_TRUE(contains(refusal_of_index(folder, "[]"), "there is no object weight_map"));
  EXPECT_TRUE(contains(refusal_of_index(folder, R"({"weight_map":[]})"), "there is no object weight_map"));
  EXPECT_TRUE(
      contains(refusal_of_index(folder, R"({"weight_map":{"x":1}})"), "the shard of tensor \"x\" is no string"));
  EXPECT_TRUE(contains(refusal_of_index(folder, "{"), "corrupt"));
}

}  // namespace
}  // namespace alate::formats
