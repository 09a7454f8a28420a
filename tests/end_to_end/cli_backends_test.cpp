// alate backends and doctor, and what happens when libraries are absent or broken: always a reason, never a crash, and
// the right fallback.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using base::TemporaryFolder;
using formats::Json;

// Beside the programs, where CMake puts them.
fs::path broken_libraries() { return fs::path(std::getenv("ALATE_PROGRAM")).parent_path() / "broken_libraries"; }

// A folder of its own for all that the program remembers, and one library folder.
class Machine {
 public:
  explicit Machine(const fs::path& onnx) { set("ONNXRUNTIME_ROOT", onnx.string()); }
  Machine() = default;

  void set(const std::string& name, const std::string& value) { variables_.emplace_back(name, value); }

  ProgramRun run(std::vector<std::string> arguments) const {
    ProgramSetting setting;
    setting.environment = variables_;
    setting.environment.emplace_back("ALATE_HOME", home_.path().string());
    return run_program(arguments, setting);
  }

  Json backend(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"backends", "--output", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = this->run(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.error, "");
    const Json json = formats::parse_json(run.out, "backends");
    for (const Json& each : json.find("backends")->as_array("backends")) {
      if (each.get_string("name", "") == name) return each;
    }
    ADD_FAILURE() << "no backend " << name;
    return {};
  }

  const fs::path& home() const { return home_.path(); }

 private:
  TemporaryFolder home_;
  std::vector<std::pair<std::string, std::string>> variables_;
};

// What every broken library must come to: a reason, a fallback that says so, and a refusal where none is allowed.
void expect_refused(const Machine& machine, const std::string& reason) {
  const Json onnx = machine.backend("onnx");
  EXPECT_FALSE(onnx.get_bool("available", true));
  EXPECT_NE(onnx.get_string("reason", "").find(reason), std::string::npos) << onnx.get_string("reason", "");
  EXPECT_NE(onnx.get_string("remedy", ""), "");

  const std::string model = tiny_model("st_mean").string();
  const ProgramRun falls_back = machine.run({"embed", model, "a text", "--backend", "onnx", "--log-level", "info"});
  EXPECT_EQ(falls_back.exit_code, 0) << falls_back.error;
  EXPECT_NE(falls_back.error.find("Loading model st_mean with backend cpu (fallback: onnx unavailable: "),
            std::string::npos)
      << falls_back.error;
  EXPECT_NE(falls_back.error.find(" is passed over: "), std::string::npos) << falls_back.error;
  EXPECT_EQ(falls_back.out, machine.run({"embed", model, "a text", "--backend", "cpu"}).out);

  const ProgramRun quiet = machine.run({"embed", model, "a text", "--backend", "onnx", "--policy", "allow"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.error, "");

  const ProgramRun strict = machine.run({"embed", model, "a text", "--backend", "onnx", "--policy", "strict"});
  EXPECT_EQ(strict.exit_code, 6);
  EXPECT_EQ(lines_of(strict.error).size(), 1u) << strict.error;
  EXPECT_TRUE(strict.error.starts_with("alate: unavailable: ")) << strict.error;
  EXPECT_NE(strict.error.find(reason), std::string::npos) << strict.error;
}

TEST(CliBackends, ListEveryBackendWithItsDevices) {
  const Machine machine;
  const Json cpu = machine.backend("cpu");
  EXPECT_TRUE(cpu.get_bool("available", false));
  const auto& devices = cpu.find("devices")->as_array("devices");
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].get_string("kind", ""), "processor");
  EXPECT_TRUE(devices[0].get_bool("unified_memory", false));
  EXPECT_GT(devices[0].get_int("total_bytes", 0), 0);
  EXPECT_GT(devices[0].get_int("free_bytes", 0), 0);
  EXPECT_LE(devices[0].get_int("free_bytes", 0), devices[0].get_int("total_bytes", 0));
  const ProgramRun text = machine.run({"backends"});
  EXPECT_EQ(text.exit_code, 0);
  for (const char* name : {"cpu", "onnx", "xla", "reference", "cuda", "metal"})
    EXPECT_NE(text.out.find(name), std::string::npos) << name;
}

TEST(CliBackends, AnAbsentLibraryIsAbsent) {
  const TemporaryFolder empty;
  const Machine machine(empty.path());
  const Json onnx = machine.backend("onnx");
  if (onnx.get_bool("available", false)) GTEST_SKIP() << "the system has an ONNX Runtime of its own";
  expect_refused(machine, empty.path().string());
}

TEST(CliBackends, AFileThatIsNoLibrary) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "libonnxruntime.so") << "not a library";
  expect_refused(Machine(folder.path()), "it is not a library");
}

TEST(CliBackends, ALibraryThatIsCutOff) {
  const TemporaryFolder folder;
  const fs::path whole = broken_libraries() / "empty" / "libonnxruntime.so", part = folder.path() / "libonnxruntime.so";
  fs::copy_file(whole, part);
  fs::resize_file(part, fs::file_size(part) / 4);
  expect_refused(Machine(folder.path()), "it is cut off");
}

TEST(CliBackends, ALibraryOfAnotherProcessor) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "libonnxruntime.so";
  fs::copy_file(broken_libraries() / "empty" / "libonnxruntime.so", copy);
  std::fstream file(copy, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(offsetof(Elf64_Ehdr, e_machine));
  const std::uint16_t riscv = EM_RISCV;
  file.write(reinterpret_cast<const char*>(&riscv), sizeof riscv);
  file.close();
  expect_refused(Machine(folder.path()), "it is for RISC-V");
}

TEST(CliBackends, ALibraryOfSomethingElse) {
  expect_refused(Machine(broken_libraries() / "empty"), "is not ONNX Runtime: it has no OrtGetApiBase");
}

TEST(CliBackends, ALibraryThatCrashesWhenItIsOpened) {
  expect_refused(Machine(broken_libraries() / "crashes"), "killed by SIGSEGV; its last words: broken_library");
}

TEST(CliBackends, ALibraryThatEndsTheProcess) { expect_refused(Machine(broken_libraries() / "exits"), "exit code 3"); }

// The library does as ONNX Runtime's official builds do: it leaves a file in the user's folder unless it is told not
// to.
TEST(CliBackends, ALibraryIsToldToSendNoReportsOfUse) {
  const TemporaryFolder user;
  Machine machine(broken_libraries() / "reports");
  machine.set("HOME", user.path().string());
  machine.set("ORT_DISABLE_TELEMETRY", "0");
  expect_refused(machine, "is not ONNX Runtime: it has no OrtGetApiBase");
  EXPECT_EQ(machine.run({"backends", "--probe"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(user.path() / "report-of-use"));
}

TEST(CliBackends, ADeviceThatListsItselfAndComputesNothingRight) {
  Machine machine;
  const fs::path plugins = fs::path(std::getenv("ALATE_PROGRAM")).parent_path() / "broken_backend_plugins";
  machine.set("ALATE_BACKEND_PATH", (plugins / "libalate_backend_short_output.so").string());
  const Json backend = machine.backend("short_output");
  EXPECT_FALSE(backend.get_bool("available", true));
  EXPECT_NE(backend.get_string("reason", "").find("its self-test failed"), std::string::npos)
      << backend.get_string("reason", "");
  const ProgramRun run = machine.run(
      {"embed", tiny_model("st_mean").string(), "a text", "--backend", "short_output", "--policy", "strict"});
  EXPECT_EQ(run.exit_code, 6);
  EXPECT_NE(run.error.find("its self-test failed"), std::string::npos) << run.error;
}

TEST(CliBackends, ABackendOfSomebodyElsesMakingRunsWhatItCan) {
  Machine machine;
  const fs::path plugins = fs::path(std::getenv("ALATE_PROGRAM")).parent_path() / "backend_plugins";
  machine.set("ALATE_BACKEND_PATH", plugins.string());
  EXPECT_TRUE(machine.backend("plain").get_bool("available", false));
  // It has too few ops for an encoder: the model is compiled elsewhere, and the reason names what it lacks.
  const ProgramRun run =
      machine.run({"embed", tiny_model("st_mean").string(), "a text", "--backend", "plain", "--log-level", "info"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.error.find("Loading model st_mean with backend plain"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find("Loading model st_mean with backend cpu (fallback: plain:"), std::string::npos) << run.error;
}

TEST(CliBackends, WhatWasFoundIsRememberedUntilTheLibraryChanges) {
  const TemporaryFolder folder;
  const fs::path library = folder.path() / "libonnxruntime.so";
  fs::copy_file(broken_libraries() / "crashes" / "libonnxruntime.so", library);
  const Machine machine(folder.path());
  EXPECT_NE(machine.backend("onnx").get_string("reason", "").find("SIGSEGV"), std::string::npos);
  EXPECT_FALSE(fs::is_empty(machine.home() / "probes"));
  fs::remove(library);
  fs::copy_file(broken_libraries() / "empty" / "libonnxruntime.so", library);
  EXPECT_NE(machine.backend("onnx").get_string("reason", "").find("OrtGetApiBase"), std::string::npos);
  for (const fs::directory_entry& entry : fs::directory_iterator(machine.home() / "probes"))
    std::ofstream(entry.path()) << "no probe";
  EXPECT_NE(machine.backend("onnx").get_string("reason", "").find("OrtGetApiBase"), std::string::npos);
  EXPECT_NE(machine.backend("onnx", {"--probe"}).get_string("reason", "").find("OrtGetApiBase"), std::string::npos);
}

TEST(CliBackends, OtherSystemsVariablesAreFollowedAndNeverStrict) {
  const std::string model = tiny_model("st_mean").string();
  const TemporaryFolder empty;
  Machine machine(empty.path());
  machine.set("GOMLX_BACKEND", "reference");
  const ProgramRun followed = machine.run({"embed", model, "a text", "--log-level", "info"});
  EXPECT_NE(followed.error.find("with backend reference"), std::string::npos) << followed.error;
  const ProgramRun overruled = machine.run({"embed", model, "a text", "--log-level", "info", "--backend", "cpu"});
  EXPECT_NE(overruled.error.find("with backend cpu"), std::string::npos) << overruled.error;
  Machine other;
  other.set("MLX_BACKEND", "metal");
  other.set("TERMITE_GPU", "cuda");
  const ProgramRun absent = other.run({"embed", model, "a text", "--policy", "strict"});
  EXPECT_EQ(absent.exit_code, 0) << absent.error;
  EXPECT_EQ(absent.error, "");
}

TEST(CliDoctor, ShowsTheWholeDecision) {
  const TemporaryFolder empty;
  const Machine machine(empty.path());
  const ProgramRun run =
      machine.run({"doctor", tiny_model("st_mean").string(), "--backend", "cuda,reference", "--output", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const Json json = formats::parse_json(run.out, "doctor");
  const Json& selection = *json.find("selection");
  EXPECT_EQ(selection.get_string("backend", ""), "reference");
  const auto& considered = selection.find("considered")->as_array("considered");
  ASSERT_GE(considered.size(), 3u);
  EXPECT_EQ(considered[0].get_string("backend", ""), "cuda");
  EXPECT_FALSE(considered[0].get_bool("possible", true));
  EXPECT_EQ(considered[0].get_string("reason", ""), "this build does not have it");
  EXPECT_TRUE(considered[1].get_bool("possible", false));
  EXPECT_EQ(considered[2].get_string("backend", ""), "cpu");
  EXPECT_GT(json.find("backends")->as_array("backends").size(), 3u);

  const ProgramRun text = machine.run({"doctor", tiny_model("st_mean").string(), "--backend", "cuda"});
  EXPECT_NE(text.out.find("no: this build does not have it"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("chosen    cpu:cpu"), std::string::npos) << text.out;
}

// A cache that others may write to: the program says so once, and works without it.
TEST(CliBackends, ACacheThatOthersMayWriteToIsNotUsed) {
  const Machine machine(broken_libraries() / "empty");
  EXPECT_NE(machine.backend("onnx").get_string("reason", "").find("OrtGetApiBase"), std::string::npos);
  const fs::path probes = machine.home() / "probes";
  EXPECT_EQ(fs::status(probes).permissions(), fs::perms::owner_all);
  for (const fs::directory_entry& entry : fs::directory_iterator(probes))
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << entry.path();
  fs::permissions(probes, fs::perms::all);
  const ProgramRun run = machine.run({"backends"});
  EXPECT_EQ(run.exit_code, 0);
  ASSERT_EQ(lines_of(run.error).size(), 1u) << run.error;
  for (const std::string part : {"what the cache has is not used", "mode 0777", "chmod go-w"})
    EXPECT_NE(run.error.find(part), std::string::npos) << run.error;
  EXPECT_NE(run.error.find(probes.string()), std::string::npos) << run.error;
}

TEST(CliDoctor, AManifestRestrictsTheChoice) {
  const TemporaryFolder folder;
  fs::copy(tiny_model("st_mean"), folder.path() / "m", fs::copy_options::recursive);
  std::ofstream(folder.path() / "m" / "model_manifest.json") << R"({"schemaVersion": 1, "backends": ["reference"]})";
  const Machine machine;
  const ProgramRun run = machine.run({"embed", (folder.path() / "m").string(), "a text", "--log-level", "info"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.error.find("Loading model m with backend reference (model requires: [reference])"), std::string::npos)
      << run.error;
  std::ofstream(folder.path() / "m" / "model_manifest.json") << R"({"backends": "reference"})";
  const ProgramRun broken = machine.run({"embed", (folder.path() / "m").string(), "a text"});
  EXPECT_EQ(broken.exit_code, 7) << broken.error;
  EXPECT_NE(broken.error.find("model_manifest.json"), std::string::npos) << broken.error;
}

TEST(CliBackends, AModelThatCannotFitIsRefusedWithTheFigures) {
  const char* folder = std::getenv("ALATE_TEST_MODEL_DIR");
  if (folder == nullptr) GTEST_SKIP() << "ALATE_TEST_MODEL_DIR names no model";
  const TemporaryFolder home;
  ProgramSetting setting;
  setting.environment = {{"ALATE_HOME", home.path().string()}};
  setting.address_space = std::size_t{165} << 20;  // the weights have 87 MiB, and are packed into as much again
  const ProgramRun run = run_program({"embed", folder, "a text", "--threads", "1"}, setting);
  EXPECT_EQ(run.exit_code, 5) << run.error;
  EXPECT_TRUE(run.error.starts_with("alate: resource_exhausted: ")) << run.error;
  EXPECT_NE(run.error.find("MiB"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find(" free"), std::string::npos) << run.error;
  setting.address_space = std::size_t{2} << 30;
  EXPECT_EQ(run_program({"embed", folder, "a text", "--threads", "1"}, setting).exit_code, 0);
}

// The real libraries, where this machine has them.
TEST(CliBackends, RealLibrariesAgreeWithCpu) {
  const char* onnx = std::getenv("ONNXRUNTIME_ROOT");
  const char* plugin = std::getenv("PJRT_PLUGIN_LIBRARY_PATH");
  if (onnx == nullptr || plugin == nullptr) GTEST_SKIP() << "set ONNXRUNTIME_ROOT and PJRT_PLUGIN_LIBRARY_PATH";
  for (const char* name : {"onnx", "xla"}) {
    const Machine machine;
    ASSERT_TRUE(machine.backend(name).get_bool("available", false)) << machine.backend(name).get_string("reason", "");
    const ProgramRun compared = machine.run({"compare", tiny_model("st_mean").string(), "--backends",
                                             std::string("cpu,") + name, "--repeat", "1", "--output", "json"});
    ASSERT_EQ(compared.exit_code, 0) << compared.error;
    const Json json = formats::parse_json(compared.out, "compare");
    const Json& other = json.find("backends")->as_array("backends")[1];
    EXPECT_EQ(other.get_string("backend", ""), name);
    EXPECT_LT(other.get_double("largest_difference", 1), 1e-5);
  }
}

}  // namespace
}  // namespace alate::tests
