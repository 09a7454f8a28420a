// Attacks on the real program from outside: hostile model folders, and a server with a greedy client beside a
// well-behaved one.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/end_to_end/program.h"
#include "tests/load/client.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {

/// Addresses of this machine, each a client of its own.
inline constexpr const char *kGreedy = "127.0.0.1", *kOther = "127.0.0.2";
/// For an answer that is there at once unless somebody holds it up: long enough for a loaded machine.
inline constexpr std::chrono::seconds kPatience{10};

std::string post(std::string_view path, std::string_view body, std::string_view headers = "");
std::string get(std::string_view path, std::string_view headers = "");

/// A server, whose log nobody reads. However it hangs, it is gone with this object.
class AttackedServer {
 public:
  /// `alate serve --port 0 ARGUMENTS…`. Throws std::runtime_error when it does not listen.
  AttackedServer(std::vector<std::string> arguments, const ProgramSetting& setting);

  std::uint16_t port() const { return port_; }
  std::size_t private_bytes() const;
  RunningProgram& program() { return program_; }

  /// On a connection of its own, from an address. Status 0: there is no answer within the time.
  load::Answer ask(const char* source, const std::string& request,
                   std::chrono::milliseconds patience = kPatience) const;

 private:
  RunningProgram program_;
  std::uint16_t port_ = 0;
};

/// A folder of models, "tiny/embedder" among them, and a cache folder of its own.
class Attack : public testing::Test {
 protected:
  Attack();

  std::filesystem::path models() const { return folder_.path() / "models"; }
  std::filesystem::path cache() const { return folder_.path() / "home"; }
  /// A copy of the small model as "tiny/NAME".
  std::filesystem::path add_model(const std::string& name) const;
  /// The same with an ONNX file instead of its weights.
  std::filesystem::path add_onnx_model(const std::string& name, const std::string& file) const;

  ProgramSetting setting() const;
  /// `alate embed MODEL text --backend BACKEND`, without another backend in its place.
  ProgramRun embed(const std::filesystem::path& model, const std::string& backend = "cpu") const;
  std::unique_ptr<AttackedServer> serve(std::vector<std::string> arguments = {}) const;

  base::TemporaryFolder folder_;
};

/// Whether ONNX Runtime, or a plugin of XLA, is given to the tests.
bool has_onnx_runtime();
bool has_xla_plugin();

/// What another client and the machine notice of an attack: nothing.
class Bystander {
 public:
  /// Its requests are answered once before the attack.
  explicit Bystander(const AttackedServer& server);

  /// It is answered as before, and the server's memory has grown by less than `growth` bytes.
  void expect_undisturbed(std::size_t growth = std::size_t{64} << 20) const;

 private:
  std::chrono::nanoseconds median_of_requests() const;

  const AttackedServer& server_;
  std::chrono::nanoseconds median_;
  std::size_t memory_;
};

}  // namespace alate::tests
