#include "tests/end_to_end/attacks/attack.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include "tests/end_to_end/tiny_models.h"
#include "tests/load/server_process.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> serving(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"serve", "--port", "0", "--log-level", "off"});
  return arguments;
}

}  // namespace

std::string post(std::string_view path, std::string_view body, std::string_view headers) {
  return load::Client::request("POST", path, body, headers);
}

std::string get(std::string_view path, std::string_view headers) {
  return load::Client::request("GET", path, "", headers);
}

AttackedServer::AttackedServer(std::vector<std::string> arguments, const ProgramSetting& setting)
    : program_(serving(std::move(arguments)), setting) {
  const std::string line = program_.read_line();
  if (!line.starts_with("listening on ")) throw std::runtime_error("the server ended before it listened");
  port_ = static_cast<std::uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
}

std::size_t AttackedServer::private_bytes() const { return load::private_bytes(program_.process()); }

load::Answer AttackedServer::ask(const char* source, const std::string& request,
                                 std::chrono::milliseconds patience) const {
  try {
    load::Client client(port_, source, patience);
    return client.exchange(request);
  } catch (const std::exception&) {
    return {};
  }
}

Attack::Attack() { add_model("embedder"); }

fs::path Attack::add_model(const std::string& name) const {
  fs::create_directories(models() / "tiny");
  fs::copy(tiny_model("st_mean"), models() / "tiny" / name, fs::copy_options::recursive);
  return models() / "tiny" / name;
}

fs::path Attack::add_onnx_model(const std::string& name, const std::string& file) const {
  const fs::path model = add_model(name);
  fs::remove(model / "model.safetensors");
  folder_.write("models/tiny/" + name + "/model.onnx", file);
  return model;
}

ProgramSetting Attack::setting() const {
  return {.environment = {{"ALATE_HOME", cache().string()}, {"ALATE_BUILTIN_MODELS", models().string()}}};
}

ProgramRun Attack::embed(const fs::path& model, const std::string& backend) const {
  return run_program(
      {"embed", model.string(), "a b", "--backend", backend, "--policy", "strict", "--output", "json", "--quiet"},
      setting());
}

std::unique_ptr<AttackedServer> Attack::serve(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"--models-dir", models().string(), "--model", "tiny/embedder"});
  return std::make_unique<AttackedServer>(std::move(arguments), setting());
}

bool has_onnx_runtime() { return std::getenv("ONNXRUNTIME_ROOT") != nullptr; }
bool has_xla_plugin() { return std::getenv("PJRT_PLUGIN_LIBRARY_PATH") != nullptr; }

Bystander::Bystander(const AttackedServer& server)
    : server_(server), median_(median_of_requests()), memory_(server.private_bytes()) {}

std::chrono::nanoseconds Bystander::median_of_requests() const {
  std::array<std::chrono::nanoseconds, 5> times{};
  for (std::chrono::nanoseconds& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(server_.ask(kOther, post("/api/embed", R"({"input": "another client"})")).status, 200);
    time = std::chrono::steady_clock::now() - begin;
    if (testing::Test::HasFailure()) break;  // each further one would take as long
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void Bystander::expect_undisturbed(std::size_t growth) const {
  const std::size_t memory = server_.private_bytes();
  EXPECT_LT(memory, memory_ + growth) << "of the server, in bytes; before: " << memory_;
  const std::chrono::nanoseconds now = median_of_requests();
  EXPECT_LT(now, 20 * median_ + std::chrono::seconds(2)) << "for another client's request";
}

}  // namespace alate::tests
