// Which files an ONNX model may name, and where in the format it may name them.
#include "exchange/onnx_file.h"

#include <gtest/gtest.h>

#include <span>

#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/exchange/onnx_messages.h"

namespace alate::exchange {
namespace {

namespace fs = std::filesystem;
using base::error_of;
using base::TemporaryFolder;

std::vector<ExternalTensor> tensors_of(const std::string& model) {
  return external_tensors(std::as_bytes(std::span(model)));
}

ProtobufWriter initializer(const ExternalEntries& entries) { return message_with(5, external_tensor("w", entries)); }

Error refusal(const ProtobufWriter& graph) {
  return error_of([&] { (void)tensors_of(onnx_model(graph)); });
}

// Every place of the format where a tensor may be.
std::vector<std::pair<std::string, std::string>> models_around(const ProtobufWriter& tensor) {
  const ProtobufWriter sparse_values = message_with(1, tensor), sparse_indices = message_with(2, tensor);
  const ProtobufWriter in_graph = message_with(5, tensor);
  const auto node_with = [](const ProtobufWriter& attribute) { return message_with(5, attribute); };
  const auto in_node = [&](const ProtobufWriter& attribute) { return message_with(1, node_with(attribute)); };
  const auto model_with = [](std::uint32_t field, const ProtobufWriter& inner) {
    return message_with(field, inner).take();
  };
  const ProtobufWriter nested = in_node(message_with(6, in_node(message_with(11, in_graph))));
  return {{"initializer", onnx_model(in_graph)},
          {"values of a sparse initializer", onnx_model(message_with(15, sparse_values))},
          {"indices of a sparse initializer", onnx_model(message_with(15, sparse_indices))},
          {"attribute", onnx_model(in_node(message_with(5, tensor)))},
          {"list of an attribute", onnx_model(in_node(message_with(10, tensor)))},
          {"sparse attribute", onnx_model(in_node(message_with(22, sparse_values)))},
          {"list of sparse ones", onnx_model(in_node(message_with(23, sparse_indices)))},
          {"graph of an attribute", onnx_model(in_node(message_with(6, in_graph)))},
          {"graphs of an attribute", onnx_model(in_node(message_with(11, in_graph)))},
          {"graph in a graph in a graph", onnx_model(nested)},
          {"function", model_with(25, message_with(7, node_with(message_with(5, tensor))))},
          {"default of a function's attribute", model_with(25, message_with(11, message_with(5, tensor)))},
          {"training's initialization", model_with(20, message_with(1, in_graph))},
          {"training's algorithm", model_with(20, message_with(2, in_graph))}};
}

TEST(OnnxFile, TensorsAreFoundWhereverTheyMayBe) {
  for (const auto& [where, model] : models_around(external_tensor("w", {{"location", "w.bin"}, {"offset", "16"}}))) {
    const std::vector<ExternalTensor> found = tensors_of(model);
    ASSERT_EQ(found.size(), 1U) << where;
    EXPECT_EQ(found[0].name, "w");
    EXPECT_EQ(found[0].location, "w.bin");
    EXPECT_EQ(found[0].offset, 16U);
    EXPECT_EQ(found[0].length, std::nullopt);
    EXPECT_EQ(found[0].bytes, 48U);
  }
}

TEST(OnnxFile, LocationsStayInTheFolderWhereverTheyAre) {
  for (const auto& [where, model] : models_around(external_tensor("w", {{"location", "/etc/passwd"}}))) {
    const Error error = error_of([&] { (void)tensors_of(model); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << where;
    EXPECT_NE(error.message().find("/etc/passwd"), std::string::npos) << error.message();
  }
  // The last is how ONNX Runtime itself marks bytes by their address in memory.
  for (const char* location :
       {"../w.bin", "a/../../w.bin", "..", ".", "", "a\\..\\..\\w", "C:w.bin", "//host/w", "*/_ORT_MEM_ADDR_/*"})
    EXPECT_EQ(refusal(initializer({{"location", location}})).code(), ErrorCode::corrupt) << location;
}

TEST(OnnxFile, ATensorThatDoesNotSayThatItsBytesAreElsewhereIsLookedAtToo) {
  const auto quiet = [](const char* location) {
    return message_with(5, external_tensor("w", {{"location", location}}, {3, 4}, 1, false));
  };
  EXPECT_EQ(tensors_of(onnx_model(quiet("w.bin"))).size(), 1U);
  EXPECT_EQ(refusal(quiet("../w.bin")).code(), ErrorCode::corrupt);
}

TEST(OnnxFile, WhatASecondValueCouldChangeIsRefused) {
  EXPECT_EQ(refusal(initializer({{"location", "a"}, {"location", "/etc/passwd"}})).code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal(initializer({{"location", "a"}, {"offset", "0"}, {"offset", "9"}})).code(), ErrorCode::corrupt);
  // Protobuf joins two tensors of one attribute: the first has the place, the second says that it is used.
  ProtobufWriter attribute;
  attribute.message(5, external_tensor("w", {{"location", "w.bin"}}, {3, 4}, 1, false));
  attribute.message(5, external_tensor("w", {{"offset", "4"}}, {}, 1));
  EXPECT_EQ(refusal(message_with(1, message_with(5, attribute))).code(), ErrorCode::corrupt);
  ProtobufWriter model;
  model.message(7, initializer({{"location", "a"}}));
  model.message(7, initializer({{"location", "b"}}));
  EXPECT_EQ(error_of([&] { (void)tensors_of(model.view()); }).code(), ErrorCode::corrupt);
  ProtobufWriter entry, tensor;
  entry.bytes(1, "location");
  entry.bytes(2, "a");
  entry.bytes(2, "/etc/passwd");
  tensor.message(13, entry);
  EXPECT_EQ(refusal(message_with(5, tensor)).code(), ErrorCode::corrupt);
}

TEST(OnnxFile, NumbersAreNumbers) {
  for (const char* number :
       {"-1", "1.5", "0x10", "", " 1", "1 ", "18446744073709551616", "9223372036854775807", "one"}) {
    EXPECT_EQ(refusal(initializer({{"location", "w"}, {"offset", number}})).code(), ErrorCode::corrupt) << number;
    EXPECT_EQ(refusal(initializer({{"location", "w"}, {"length", number}})).code(), ErrorCode::corrupt) << number;
  }
  EXPECT_EQ(refusal(initializer({})).code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal(initializer({{"offset", "0"}})).code(), ErrorCode::corrupt);
  const auto with_dims = [](const std::vector<std::int64_t>& dims) {
    return message_with(5, external_tensor("w", {{"location", "w"}}, dims));
  };
  EXPECT_EQ(refusal(with_dims({-1})).code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal(with_dims({1LL << 40, 1LL << 40})).code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal(with_dims(std::vector<std::int64_t>(100, 1))).code(), ErrorCode::resource_exhausted);
}

TEST(OnnxFile, SizesFollowFromTypesAndDims) {
  const auto bytes_of = [](std::int64_t dtype, const std::vector<std::int64_t>& dims) {
    return tensors_of(onnx_model(message_with(5, external_tensor("w", {{"location", "w"}}, dims, dtype)))).at(0).bytes;
  };
  EXPECT_EQ(bytes_of(1, {5, 7}), 140U);  // f32
  EXPECT_EQ(bytes_of(10, {5, 7}), 70U);  // f16
  EXPECT_EQ(bytes_of(11, {3}), 24U);     // f64
  EXPECT_EQ(bytes_of(9, {3}), 3U);       // bool
  EXPECT_EQ(bytes_of(22, {5}), 3U);      // int4, two in a byte
  EXPECT_EQ(bytes_of(1, {}), 4U);        // a scalar
  EXPECT_EQ(bytes_of(1, {5, 0}), 0U);
  EXPECT_EQ(bytes_of(8, {3}), std::nullopt);    // text
  EXPECT_EQ(bytes_of(999, {3}), std::nullopt);  // of the future
  // Dims in one field, as proto3 writes them: 5 and 300.
  ProtobufWriter packed = external_tensor("w", {{"location", "w"}}, {});
  packed.bytes(1, std::string("\x05\xAC\x02", 3));
  EXPECT_EQ(tensors_of(onnx_model(message_with(5, packed))).at(0).bytes, 6000U);
}

TEST(OnnxFile, CodeForOneAcceleratorIsRefused) {
  const Error error = refusal(message_with(1, onnx_node("EPContext", {"x"}, "y")));
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("EPContext"), std::string::npos);
}

TEST(OnnxFile, EveryCutAndEveryByteIsAnswered) {
  const std::string model = models_around(external_tensor("w", {{"location", "w.bin"}, {"length", "48"}}))[9].second;
  for (std::size_t size = 0; size < model.size(); ++size) {
    try {
      (void)tensors_of(model.substr(0, size));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << size;
    }
  }
  for (std::size_t i = 0; i < model.size(); ++i) {
    for (const int bits : {0x01, 0x80, 0xFF}) {
      std::string changed = model;
      changed[i] = static_cast<char>(changed[i] ^ bits);
      try {
        (void)tensors_of(changed);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::internal) << i;
      }
    }
  }
}

TEST(OnnxFile, WhatIsNoMessageIsCorrupt) {
  for (const std::string& bytes :
       {std::string("this is no model\n"), std::string("\x3A\xFF\xFF\xFF\xFF\x0F"), std::string(11, '\x80'),
        std::string("\x00\x00", 2), std::string("\x3B\x3C"), std::string("\x3D\x01"), std::string("\x39\x01")}) {
    EXPECT_EQ(error_of([&] { (void)tensors_of(bytes); }).code(), ErrorCode::corrupt);
  }
  EXPECT_TRUE(tensors_of("").empty());
}

TEST(OnnxFile, GraphsInGraphsHaveAnEnd) {
  ProtobufWriter graph = initializer({{"location", "w"}});
  for (int i = 0; i < 10; ++i) graph = message_with(1, message_with(5, message_with(6, graph)));
  EXPECT_EQ(tensors_of(onnx_model(graph)).size(), 1U);
  for (int i = 0; i < 10'000; ++i) graph = message_with(1, message_with(5, message_with(6, graph)));
  EXPECT_EQ(refusal(graph).code(), ErrorCode::resource_exhausted);
}

class OnnxFolder : public ::testing::Test {
 protected:
  fs::path write_model(const ExternalEntries& entries) const {
    return folder_.write("model/model.onnx", onnx_model(initializer(entries)));
  }
  Error refused(const ExternalEntries& entries) const {
    const fs::path model = write_model(entries);
    const Error error = error_of([&] { (void)check_onnx_file(model); });
    EXPECT_NE(error.message().find(model.string()), std::string::npos) << error.message();
    return error;
  }
  TemporaryFolder folder_;
  fs::path model_ = folder_.path() / "model";
};

TEST_F(OnnxFolder, ListsItsFiles) {
  folder_.write("model/a.bin", std::string(64, 'a'));
  folder_.write("model/parts/b.bin", std::string(48, 'b'));
  ProtobufWriter graph;
  for (const char* location : {"parts/b.bin", "a.bin", "a.bin"})
    graph.append(initializer({{"location", location}, {"offset", "0"}, {"length", "48"}}));
  const fs::path model = folder_.write("model/model.onnx", onnx_model(graph));
  const OnnxFiles files = check_onnx_file(model);
  EXPECT_EQ(files.external, (std::vector<std::string>{"a.bin", "parts/b.bin"}));
  EXPECT_EQ(files.bytes, fs::file_size(model) + 64 + 48);
  EXPECT_EQ(files.path_of("a.bin"), model_ / "a.bin");
}

TEST_F(OnnxFolder, AllBytesMustBeThere) {
  folder_.write("model/w.bin", std::string(64, 'w'));
  EXPECT_NO_THROW(check_onnx_file(write_model({{"location", "w.bin"}, {"offset", "16"}, {"length", "48"}})));
  EXPECT_NO_THROW(check_onnx_file(write_model({{"location", "w.bin"}, {"offset", "16"}})));
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "17"}, {"length", "48"}}).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "17"}}).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "65"}, {"length", "0"}}).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"length", "4611686018427387904"}}).code(), ErrorCode::corrupt);
  EXPECT_EQ(refused({{"location", "not_there.bin"}}).code(), ErrorCode::not_found);
}

TEST_F(OnnxFolder, APointerInPlaceOfTheWeightsIsNamed) {
  folder_.write("model/w.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 64\n");
  const Error error = refused({{"location", "w.bin"}});
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find("w.bin is a Git LFS pointer"), std::string::npos) << error.message();
}

TEST_F(OnnxFolder, LinksDoNotLeadOut) {
  folder_.write("secret.bin", std::string(64, 's'));
  folder_.write("model/real.bin", std::string(64, 'r'));
  fs::create_symlink("real.bin", model_ / "inside.bin");
  fs::create_symlink("../secret.bin", model_ / "outside.bin");
  fs::create_symlink(folder_.path() / "secret.bin", model_ / "absolute.bin");
  fs::create_directory_symlink("..", model_ / "up");
  EXPECT_NO_THROW(check_onnx_file(write_model({{"location", "inside.bin"}})));
  for (const char* location : {"outside.bin", "absolute.bin", "up/secret.bin"}) {
    const Error error = refused({{"location", location}});
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << location;
    EXPECT_NE(error.message().find("leads out"), std::string::npos) << error.message();
  }
}

TEST_F(OnnxFolder, FoldersAreNoFiles) {
  fs::create_directories(model_ / "w.bin");
  EXPECT_EQ(refused({{"location", "w.bin"}}).code(), ErrorCode::corrupt);
}

TEST_F(OnnxFolder, TheLayoutOfHuggingFacesCacheIsRead) {
  const fs::path revision = folder_.path() / "models--a--b/snapshots/0123/onnx";
  fs::create_directories(revision);
  folder_.write("models--a--b/blobs/cafe", onnx_model(initializer({{"location", "model.onnx_data"}})));
  folder_.write("models--a--b/blobs/beef", std::string(48, 'w'));
  fs::create_symlink("../../../blobs/cafe", revision / "model.onnx");
  fs::create_symlink("../../../blobs/beef", revision / "model.onnx_data");
  EXPECT_EQ(check_onnx_file(revision / "model.onnx").external, std::vector<std::string>{"model.onnx_data"});
}

TEST_F(OnnxFolder, ModelsOfTooManyFilesAreRefused) {
  ProtobufWriter graph;
  for (std::size_t i = 0; i <= kMaxExternalFiles; ++i) {
    const std::string name = std::to_string(i);
    graph.append(message_with(5, external_tensor("w", {{"location", name}}, {0})));
    folder_.write("model/" + name, "");
  }
  const fs::path model = folder_.write("model/model.onnx", onnx_model(graph));
  EXPECT_EQ(error_of([&] { (void)check_onnx_file(model); }).code(), ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace alate::exchange
