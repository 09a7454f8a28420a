// Attacks by a model folder's author: writing and reading this machine's files, reading the process's memory, passing
// one file off as another.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files/mapped_file.h"
#include "tests/end_to_end/attacks/attack.h"
#include "tests/end_to_end/attacks/attacking_onnx.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

class AttackByModelFolder : public Attack {
 protected:
  void expect_refused(const ProgramRun& run, const std::string& part) const {
    EXPECT_EQ(run.exit_code, 7) << run.out << run.error;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.error.find(part), std::string::npos) << run.error;
  }
  fs::path with_options(const fs::path& model, const std::string& key, const fs::path& value) const {
    std::ofstream(model / "model_manifest.json")
        << R"({"session_options": {")" << key << R"(": ")" << value.string() << "\"}}";
    return model;
  }
  // A file beside the models, of as many bytes as the words have.
  fs::path secret() const { return folder_.write("secret", word_bytes(0.75F)); }
};

constexpr const char* kSecretVector = "0.75,0.75,0.75";

// The file gets lines in which the names are that the model gave to its nodes.
TEST_F(AttackByModelFolder, SessionOptionsOfOnnxRuntimeWriteNoFile) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  const fs::path victim = folder_.write("victim", "precious");
  const fs::path model = add_onnx_model("writes", onnx_encoder(words_inside(1)));
  EXPECT_EQ(embed(model, "onnx").exit_code, 0);
  const ProgramRun run = embed(with_options(model, "session.collect_node_memory_stats_to_file", victim), "onnx");
  EXPECT_EQ(base::read_text_file(victim), "precious");
  expect_refused(run, "session.collect_node_memory_stats_to_file");
}

TEST_F(AttackByModelFolder, SessionOptionsOfXlaWriteNoFiles) {
  if (!has_xla_plugin()) GTEST_SKIP() << "set PJRT_PLUGIN_LIBRARY_PATH";
  const fs::path dump = folder_.path() / "dump";
  const ProgramRun run = embed(with_options(add_model("writes"), "xla_dump_to", dump), "xla");
  EXPECT_FALSE(fs::exists(dump) && !fs::is_empty(dump));
  expect_refused(run, "xla_dump_to");
}

TEST_F(AttackByModelFolder, LyingExtentsShowNoMemory) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  expect_refused(embed(add_onnx_model("lies", lying_onnx_encoder()), "onnx"), "must be");
  const auto server = serve({"--backend", "onnx,cpu"});
  const Bystander other(*server);
  std::string texts = R"("a")";
  for (int i = 1; i < 1000; ++i) texts += R"(,"a b c d e f g h i j k l m n o p q r s t u v w x y z")";
  for (const std::string& input : {std::string(R"("a b c d")"), "[" + texts + "]"}) {
    const load::Answer answer =
        server->ask(kGreedy, post("/api/embed", R"({"model": "tiny/lies", "input": )" + input + "}"));
    EXPECT_EQ(answer.status, 500) << answer.body.substr(0, 300);
  }
  other.expect_undisturbed();
}

// Newer versions of ONNX Runtime refuse these by themselves, older ones read them: what Alate says of them names the
// place, whatever the version.
TEST_F(AttackByModelFolder, ExternalDataIsReadFromTheFolderOnly) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  const fs::path model = add_onnx_model("inside", onnx_encoder(words_in_file("words.bin")));
  std::ofstream(model / "words.bin") << word_bytes(0.25F);
  EXPECT_NE(embed(model, "onnx").out.find("0.25,0.25,0.25"), std::string::npos);
  for (const std::string& location : {secret().string(), std::string("../../../secret")}) {
    const ProgramRun run = embed(
        add_onnx_model("outside" + std::to_string(location.size()), onnx_encoder(words_in_file(location))), "onnx");
    EXPECT_EQ(run.out.find(kSecretVector), std::string::npos) << location << " was read: " << run.out;
    expect_refused(run, "\"" + location + "\"");
  }
}

TEST_F(AttackByModelFolder, LinksOfExternalDataLeadNotOut) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  const fs::path model = add_onnx_model("links", onnx_encoder(words_in_file("words.bin")));
  fs::create_symlink(secret(), model / "words.bin");
  const ProgramRun run = embed(model, "onnx");
  EXPECT_EQ(run.out.find(kSecretVector), std::string::npos) << "the link was followed: " << run.out;
  expect_refused(run, "leads out");
}

// Other bytes under the same name, size and times.
class AttackBySwappedFile : public AttackByModelFolder {
 protected:
  static void swap(const fs::path& file, const std::string& bytes) {
    struct stat before {};
    ASSERT_EQ(::stat(file.c_str(), &before), 0);
    ASSERT_EQ(static_cast<std::size_t>(before.st_size), bytes.size());
    const fs::path other = file.string() + ".new";
    std::ofstream(other, std::ios::binary) << bytes;
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, other.c_str(), times, 0), 0);
    fs::rename(other, file);
  }
  std::string fingerprint() const {
    const auto server = serve({"--backend", "cpu"});
    const load::Answer answer = server->ask(kGreedy, post("/api/embed", R"({"input": "a b"})"));
    EXPECT_EQ(answer.status, 200);
    const std::size_t at = answer.head.find("X-Model-Fingerprint: ");
    return at == std::string::npos ? "" : answer.head.substr(at, answer.head.find('\r', at) - at);
  }
};

TEST_F(AttackBySwappedFile, IsNotTakenForWhatWasOptimized) {
  if (!has_onnx_runtime()) GTEST_SKIP() << "set ONNXRUNTIME_ROOT";
  const fs::path model = add_onnx_model("swapped", onnx_encoder(words_in_file("words.bin")));
  std::ofstream(model / "words.bin") << word_bytes(0.25F);
  EXPECT_NE(embed(model, "onnx").out.find("0.25,0.25,0.25"), std::string::npos);
  swap(model / "words.bin", word_bytes(0.5F));
  const std::string out = embed(model, "onnx").out;
  EXPECT_NE(out.find("0.5,0.5,0.5"), std::string::npos) << out;
}

TEST_F(AttackBySwappedFile, HasAnotherFingerprint) {
  const std::string before = fingerprint();
  EXPECT_NE(before, "");
  EXPECT_EQ(fingerprint(), before);
  const fs::path weights = models() / "tiny/embedder/model.safetensors";
  std::string bytes = base::read_text_file(weights);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of a number's exponent
  swap(weights, bytes);
  EXPECT_NE(fingerprint(), before);
}

}  // namespace
}  // namespace alate::tests
