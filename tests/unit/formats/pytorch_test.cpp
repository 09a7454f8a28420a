#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pytorch/checkpoint.h"
#include "formats/pytorch/pickle.h"
#include "formats/pytorch/pytorch_file.h"
#include "formats/safetensors/safetensors.h"
#include "formats/zip_writer.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

using namespace std::string_literals;
using Names = std::vector<std::string_view>;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class TorchSave : public testing::TestWithParam<const char*> {};

TEST_P(TorchSave, IsReadAsTorchLoadReadsIt) {
  const std::string name = GetParam();
  const auto expected = SafetensorsFile::open(golden("pytorch/" + name.substr(0, name.find('.')) + ".safetensors"));
  const auto file = PytorchFile::open(golden("pytorch/" + name + ".bin"));
  Names names = file->names(), expected_names = expected->names();
  std::ranges::sort(names);
  std::ranges::sort(expected_names);
  ASSERT_EQ(names, expected_names);
  for (const std::string_view each : names) {
    const Tensor tensor = file->tensor(each), wanted = expected->tensor(each);
    EXPECT_EQ(tensor.shape(), wanted.shape()) << each;
    EXPECT_EQ(file->info(each)->shape, wanted.shape()) << each;
    EXPECT_EQ(file->info(each)->bytes, wanted.byte_count()) << each;
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), wanted.bytes())) << each;
    file->release(each);
    EXPECT_TRUE(std::ranges::equal(file->tensor(each).bytes(), wanted.bytes())) << each;
  }
  EXPECT_FALSE(file->contains("absent"));
  EXPECT_TRUE(contains(refusal([&] { file->tensor("absent"); }), "has no tensor"));
  file->require_unchanged();
}

INSTANTIATE_TEST_SUITE_P(Files, TorchSave,
                         testing::Values("types", "types.legacy", "views", "views.legacy", "module", "module.legacy",
                                         "parameters", "parameters.legacy", "checkpoint", "checkpoint.legacy"),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(PytorchFile, ReadsNewerProtocols) {
  const auto file = PytorchFile::open(golden("pytorch/protocol_4.bin"));
  const auto expected = SafetensorsFile::open(golden("pytorch/views.safetensors"));
  EXPECT_TRUE(std::ranges::equal(file->tensor("turned").bytes(), expected->tensor("turned").bytes()));
}

TEST(PytorchFile, TensorsOfOneStorageHaveOneIdentityAndAnotherFileHasOthers) {
  const auto file = PytorchFile::open(golden("pytorch/views.bin")),
             module = PytorchFile::open(golden("pytorch/module.bin"));
  const Names names = file->names();
  EXPECT_EQ(file->identity("whole"), PytorchFile::open(golden("pytorch/views.bin"))->identity("whole"));
  EXPECT_NE(file->identity("whole"), file->identity("transposed"));
  EXPECT_NE(file->identity("whole"), file->identity("part"));
  EXPECT_NE(module->identity("weight"), module->identity("bias"));
  EXPECT_NE(module->identity("weight"), PytorchFile::open(golden("pytorch/parameters.bin"))->identity("weight"));
}

std::vector<std::byte> archive(const std::vector<std::pair<std::string, std::string>>& entries) {
  ZipWriter writer;
  for (const auto& [name, content] : entries) {
    const auto bytes = bytes_of(content);
    writer.add(name, {bytes.begin(), bytes.end()});
  }
  return writer.finish();
}

std::string text(std::string_view content) {
  return "X"s + static_cast<char>(content.size()) + "\0\0\0"s + std::string(content);
}

// {"w": a tensor} with extents and strides given as operations; its storage is "0", with 24 bytes.
std::string pickle_of(const std::string& offset, const std::string& extents, const std::string& strides,
                      const std::string& storage = "ctorch\nFloatStorage\n", const std::string& key = "0") {
  return "\x80\x02}"s + text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + storage + text(key) +
         text("cpu") + "K\x06tQ" + offset + extents + strides + "\x89}tRs.";
}

std::string refusal_of(const std::string& pickle, const std::string& data = std::string(24, '\1')) {
  const std::vector<std::byte> file = archive({{"a/data.pkl", pickle}, {"a/data/0", data}});
  return refusal([&] { parse_checkpoint(file, "f.bin"); });
}

TEST(Checkpoint, AcceptsWhatLiesInItsStorage) {
  EXPECT_EQ(refusal_of(pickle_of("K\0"s, "K\x02K\x03\x86", "K\x03K\x01\x86")), "accepted");
  EXPECT_EQ(refusal_of(pickle_of("K\x05", "K\x01\x85", "K\x01\x85")), "accepted");
  EXPECT_EQ(refusal_of(pickle_of("K\x06", "K\0\x85"s, "K\x01\x85")), "accepted");
}

TEST(Checkpoint, RefusesTensorsThatLeaveTheirStorage) {
  constexpr std::string_view kReason = "corrupt: f.bin: \"w\" has more elements than its storage in the file";
  EXPECT_EQ(refusal_of(pickle_of("K\x01", "K\x02K\x03\x86", "K\x03K\x01\x86")), kReason);
  EXPECT_EQ(refusal_of(pickle_of("K\0"s, "K\x02K\x03\x86", "K\x04K\x01\x86")), kReason);
  EXPECT_EQ(refusal_of(pickle_of("K\x06", "K\x01\x85", "K\x01\x85")), kReason);
  EXPECT_EQ(refusal_of(pickle_of("K\x07", "K\0\x85"s, "K\x01\x85")), kReason);
  EXPECT_EQ(refusal_of(pickle_of("K\x06", ")", ")")), kReason);
  // Elements that share storage: 7 of one number.
  EXPECT_EQ(refusal_of(pickle_of("K\0"s, "K\x07\x85", "K\0\x85"s)), kReason);
  const std::string large = "\x8a\x06\xff\xff\xff\xff\xff\x7f"s;
  EXPECT_EQ(refusal_of(pickle_of(large, "K\x01\x85", "K\x01\x85")), kReason);
  EXPECT_EQ(refusal_of(pickle_of("K\0"s, large + large + "\x86", large + large + "\x86")), kReason);
}

// {"a": …, "b": …, …}: f32 tensors of 200 numbers, each from an offset on, in one storage of 255.
std::string refusal_of_tensors(const std::vector<std::size_t>& offsets) {
  std::string pickle = "\x80\x02}("s;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    pickle += text(std::string(1, static_cast<char>('a' + i))) + "ctorch._utils\n_rebuild_tensor_v2\n((" +
              text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\xfftQK" +
              static_cast<char>(offsets[i]) + "K\xc8\x85K\x01\x85\x89}tR";
  }
  return refusal_of(pickle + "u.", std::string(1020, '\1'));
}

TEST(Checkpoint, RefusesTensorsThatTogetherAreLargerThanTheFile) {
  const std::string refused = refusal_of_tensors({0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(contains(refused, "corrupt: f.bin: its tensors share bytes")) << refused;
  EXPECT_EQ(refusal_of_tensors({0}), "accepted");
}

TEST(Checkpoint, CountsTiedTensorsOnce) { EXPECT_EQ(refusal_of_tensors({2, 2, 2, 2, 2, 2}), "accepted"); }

TEST(Checkpoint, RefusesWhatIsNoTensor) {
  const std::string one = "K\x01\x85";
  EXPECT_TRUE(contains(refusal_of(pickle_of("J\xff\xff\xff\xff", one, one)), "offset that is none"));
  EXPECT_TRUE(contains(refusal_of(pickle_of("K\0"s, one, "K\x01K\x01\x86")), "has extents that are none"));
  EXPECT_TRUE(contains(refusal_of(pickle_of("K\0"s, "K\x01", one)), "has extents that are no tuple"));
  EXPECT_TRUE(contains(refusal_of(pickle_of("K\0"s, one, one, "ctorch\nFloatStorage\n", "1")), "is it whole?"));
  EXPECT_TRUE(contains(refusal_of(pickle_of("K\0"s, one, one, "ctorch\nQInt8Storage\n")), "unsupported"));
  EXPECT_TRUE(contains(refusal_of(pickle_of("K\0"s, one, one, text("float"))), "has a storage of no type"));
  EXPECT_TRUE(contains(refusal_of("\x80\x02]."s), "holds no dict of tensors"));
  EXPECT_EQ(refusal_of("\x80\x02}K\x01K\x02s."s), "accepted");  // and no tensor in it
}

TEST(Checkpoint, RefusesArchivesOfOthers) {
  const auto refusal_of_archive = [](const std::vector<std::pair<std::string, std::string>>& entries) {
    const std::vector<std::byte> file = archive(entries);
    return refusal([&] { parse_checkpoint(file, "f.bin"); });
  };
  EXPECT_TRUE(contains(refusal_of_archive({{"word/document.xml", "<a/>"}}), "no data.pkl"));
  EXPECT_TRUE(contains(refusal_of_archive({{"a/data.pkl", "}."}, {"a/byteorder", "big"}}), "not little-endian"));
  EXPECT_TRUE(contains(refusal([] { parse_checkpoint(bytes_of("PK"), "f.bin"); }), "corrupt"));
  EXPECT_TRUE(contains(refusal([] { parse_checkpoint(bytes_of("weights"), "f.bin"); }), "no file of torch.save"));
  EXPECT_TRUE(contains(refusal([] { parse_checkpoint({}, "f.bin"); }), "no file of torch.save"));
}

TEST(Checkpoint, RefusesFilesThatEndTooEarlyWhereverTheyEnd) {
  for (const char* name : {"pytorch/types.bin", "pytorch/types.legacy.bin"}) {
    const std::vector<std::byte> file = bytes_of_file(golden(name));
    for (std::size_t size = 0; size < file.size(); ++size)
      EXPECT_NE(refusal([&] { parse_checkpoint(std::span(file).first(size), "f.bin"); }), "accepted") << size;
  }
}

std::string refusal_of_pickle(const std::string& pickle, const PickleLimits& limits = {}) {
  return refusal([&] { parse_pickle(bytes_of(pickle), {}, "f.bin", limits); });
}

TEST(Pickle, RunsNothing) {
  EXPECT_EQ(
      refusal_of_pickle("\x80\x02"s + "cos\nsystem\n(" + text("rm") + "tR."),
      "unsupported: f.bin: the pickle asks for Python's \"os system\", which is no part of a model's weights and is "
      "not run; save the weights as safetensors: pickle");
  EXPECT_TRUE(contains(refusal_of_pickle(text("os") + text("system") + "\x93."), "os system"));
  EXPECT_TRUE(contains(refusal_of_pickle("cbuiltins\neval\n."), "builtins eval"));
  EXPECT_TRUE(contains(refusal_of_pickle("(ios\nsystem\n."), "operation 105"));  // INST
  EXPECT_TRUE(contains(refusal_of_pickle("\x82\x01."s), "operation 130"));       // EXT1
}

TEST(Pickle, RefusesBrokenOnes) {
  EXPECT_TRUE(contains(refusal_of_pickle(""), "ends too early"));
  EXPECT_TRUE(contains(refusal_of_pickle("."), "an operand is missing"));
  EXPECT_TRUE(contains(refusal_of_pickle("t."), "beginning of a list is missing"));
  EXPECT_TRUE(contains(refusal_of_pickle("(a."), "an operand is missing"));
  EXPECT_TRUE(contains(refusal_of_pickle("}(K\x01u."), "a key has no value"));
  EXPECT_TRUE(contains(refusal_of_pickle("K\x01K\x02"
                                         "a."),
                       "added to what is no container"));
  EXPECT_TRUE(contains(refusal_of_pickle("h\x05."), "refers to what was not made"));
  EXPECT_TRUE(contains(refusal_of_pickle("K\x01)R."), "no function"));
  EXPECT_TRUE(contains(refusal_of_pickle("NN."), "left over"));
  EXPECT_TRUE(contains(refusal_of_pickle("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s), "ends too early"));
}

TEST(Pickle, HasLimits) {
  const PickleLimits limits{.max_values = 100, .max_operations = 1000};
  EXPECT_TRUE(contains(refusal_of_pickle(std::string(101, ']'), limits), "more than 100 values"));
  EXPECT_TRUE(contains(refusal_of_pickle(std::string(1001, '('), limits), "more than 1000 operations"));
  EXPECT_TRUE(contains(refusal_of_pickle("]r\xff\xff\xff\x7f."s, limits), "more than 100 values"));
  std::string pairs =
      "ccollections\nOrderedDict\nq\x01"
      "0](";
  for (int i = 0; i < 60; ++i) pairs += ")";
  pairs =
      "ccollections\nOrderedDict\nq\x01"
      "0NN\x86q\x02"
      "0](";
  for (int i = 0; i < 60; ++i) pairs += "h\x02";
  pairs +=
      "e\x85q\x03"
      "0h\x01h\x03R0h\x01h\x03R.";
  EXPECT_TRUE(contains(refusal_of_pickle(pairs, limits), "more than 100 pairs"));
}

TEST(Pickle, ReadsNumbersAndReferences) {
  const std::string pickle = "\x80\x02(J\xfe\xff\xff\xffM\x01\x02\x8a\x01\xfe\x8a\0G\x3f\xf8\0\0\0\0\0\0q\0h\0\x88Nt."s;
  const Pickle made = parse_pickle(bytes_of(pickle), {}, "f.bin");
  const std::vector<std::uint32_t>& items = made[made.root].items;
  ASSERT_EQ(items.size(), 8U);
  EXPECT_EQ(made[items[0]].integer, -2);
  EXPECT_EQ(made[items[1]].integer, 513);
  EXPECT_EQ(made[items[2]].integer, -2);
  EXPECT_EQ(made[items[3]].integer, 0);
  EXPECT_EQ(made[items[4]].number, 1.5);
  EXPECT_EQ(items[5], items[4]);
  EXPECT_EQ(made[items[6]].kind, PickleValue::Kind::boolean);
  EXPECT_EQ(made[items[7]].kind, PickleValue::Kind::none);
  EXPECT_EQ(made.byte_count, pickle.size());
}

}  // namespace
}  // namespace alate::formats
