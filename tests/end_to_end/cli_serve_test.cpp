// `alate serve` and `alate ps` from outside: options, configuration files, --check-config, errors, start and stop.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "formats/json.h"
#include "program.h"
#include "terminal.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

std::string good(const std::vector<std::string>& arguments, const ProgramSetting& setting = {}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return run.out;
}

// The one line on standard error.
std::string failure(int exit_code, const std::vector<std::string>& arguments, const ProgramSetting& setting = {}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, exit_code) << run.error;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.error.starts_with("alate: ")) << run.error;
  EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
  return run.error;
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

formats::Json checked_settings(std::vector<std::string> options, const ProgramSetting& setting = {}) {
  options.insert(options.begin(), {"serve", "--check-config", "--output", "json"});
  const auto answer = formats::parse_json(good(options, setting), "answer");
  EXPECT_EQ(answer.get_string("message", ""), "configuration is fine");
  return *answer.find("settings");
}

// A folder of models with the tiny model in it.
std::string models_with_mean(const TemporaryFolder& folder) {
  const auto models = folder.path() / "models";
  std::filesystem::create_directories(models / "someone");
  std::filesystem::copy(tiny_model("st_mean"), models / "someone" / "mean", std::filesystem::copy_options::recursive);
  return models.string();
}

// Answers one request with a text, and keeps what was asked.
class OneAnswer {
 public:
  OneAnswer(int status, const std::string& body) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    const std::string answer = "HTTP/1.1 " + std::to_string(status) +
                               " Whatever\r\nContent-Length: " + std::to_string(body.size()) +
                               "\r\nConnection: close\r\n\r\n" + body;
    thread_ = std::thread([this, answer] {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;  // nobody came
      char bytes[4096];
      while (asked_.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::read(client, bytes, sizeof bytes);
        if (got <= 0) break;
        asked_.append(bytes, static_cast<std::size_t>(got));
      }
      EXPECT_EQ(::write(client, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
      ::close(client);
    });
  }
  ~OneAnswer() {
    ::shutdown(listener_, SHUT_RDWR);  // ends an accept that nobody came to
    if (thread_.joinable()) thread_.join();
    ::close(listener_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  std::string port() const { return std::to_string(port_); }
  std::string url() const { return "http://127.0.0.1:" + port(); }
  std::string asked() {
    thread_.join();
    return asked_;
  }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::string asked_;
  std::thread thread_;
};

TEST(CliServe, StartsSaysWhereAndStopsWhenInterrupted) {
  const ProgramRun run = interrupt_program({"serve", "--port", "0"}, "");
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(run.out.starts_with("listening on http://127.0.0.1:")) << run.out;
  EXPECT_FALSE(run.out.starts_with("listening on http://127.0.0.1:0\n")) << run.out;
  expect_has(run.error, "listening");
}

TEST(CliServe, RunIsAnotherNameOfIt) {
  EXPECT_TRUE(interrupt_program({"run", "--port", "0", "--quiet"}, "").out.starts_with("listening on http://"));
}

TEST(CliServe, RunWithAModelIsNoServer) {
  const ProgramRun missing = run_program({"run", "llama3"});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_EQ(missing.out, "");
  const ProgramRun embedder = run_program({"run", "builtin:minilm", "hello"});
  EXPECT_EQ(embedder.exit_code, 3);
  EXPECT_EQ(embedder.out, "");
}

TEST(CliServe, HelpHasEverySettingAndShortLines) {
  const std::string help = good({"serve", "--help"});
  for (const std::string option : {"--port N", "--batch-max-tokens N", "--tls-cert FILE", "--check-config",
                                   "--allow-downloads ", "--config FILE", "--log-level LEVEL"})
    expect_has(help, "\n  " + option);
  for (const std::string& line : lines_of(help)) EXPECT_LE(line.size(), 100u) << line;
}

TEST(CliServe, UsageErrorsAreTwoAndPointAtTheHelp) {
  expect_has(failure(2, {"serve", "--prot", "1"}), "did you mean --port?");
  expect_has(failure(2, {"serve", "--port", "65536"}),
             "--port is \"65536\"; it must be a whole number from 0 to 65535; see `alate serve --help`");
  expect_has(failure(2, {"serve", "--port"}), "--port needs a value");
  expect_has(failure(2, {"serve", "a", "b"}), "too many");
  expect_has(failure(2, {"serve", "a", "--model", "b"}), "given twice");
  expect_has(failure(2, {"serve", "--tls-cert", "a.pem"}), "tls.key");
  expect_has(failure(2, {"serve"}, {.environment = {{"ALATE_PORT", "many"}}}), "ALATE_PORT is \"many\"");
}

// An unset variable of a script is no wish for any model.
TEST(CliServe, AnEmptyModelIsRefused) {
  expect_has(failure(2, {"serve", ""}), "MODEL is empty");
  expect_has(failure(2, {"serve", "--model", ""}), "--model is empty");
  expect_has(failure(2, {"chunk", "", "a text"}), "MODEL is empty");
}

TEST(CliServe, WhatIsNotThereIsSaidAtTheStart) {
  const TemporaryFolder folder;
  expect_has(failure(4, {"serve", "nobody/nothing", "--models-dir", folder.path().string()}), "nobody/nothing");
  expect_has(failure(4, {"serve", "--preload", "nothing", "--models-dir", folder.path().string()}), "preload");
  expect_has(failure(4, {"serve", "--models-dir", (folder.path() / "none").string()}), "models_dir");
  expect_has(failure(4, {"serve", "--config", (folder.path() / "none.yaml").string()}), "none.yaml");
  expect_has(failure(6, {"serve", "--port", "0", "--backend", "cuda", "--policy", "strict"}), "cuda");
}

TEST(CliServe, IndexesAreThereAtTheStart) {
  const TemporaryFolder folder;
  const std::string none = (folder.path() / "none").string(), empty = (folder.path() / "empty").string();
  std::filesystem::create_directories(empty);
  const std::string broken = folder.write("broken/index.safetensors", "no index").parent_path().string();
  const std::pair<int, std::string> given[] = {{4, none}, {4, empty}, {7, broken}};
  for (const auto& [code, path] : given) {
    const std::string error = failure(code, {"serve", "--port", "0", "--indexes", "docs=" + path});
    expect_has(error, "indexes: docs: ");
    expect_has(error, path);
    expect_has(failure(2, {"serve", "--check-config", "--indexes", "docs=" + path}), "indexes: docs: ");
  }
}

TEST(CliServe, SaysOnceAtATerminalWhereItListens) {
  const Terminal terminal;
  RunningProgram server({"serve", "--port", "0"}, {.output_path = terminal.name(), .error_path = terminal.name()});
  std::string text;
  while (text.find("listening on http://127.0.0.1:") == std::string::npos) text += terminal.written();
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  text += terminal.written();
  EXPECT_EQ(text.find("listening"), text.rfind("listening")) << text;
  EXPECT_EQ(text.find("backends"), text.rfind("backends")) << text;
}

TEST(CliServe, APortInUseIsUnavailable) {
  OneAnswer other(200, "");
  const ProgramRun run = run_program({"serve", "--port", other.port()});
  EXPECT_EQ(run.exit_code, 6);
  expect_has(run.error, other.port() + " is in use");
}

TEST(CliServeConfiguration, IsReadFromAFileThatOptionOrVariableOrUsualPlaceName) {
  const TemporaryFolder folder;
  const std::string file = folder.write("config/alate/alate.yaml", "port: 4711\nbatch: {max_tokens: 99}\n").string();
  const auto expect = [](const formats::Json& settings) {
    EXPECT_EQ(settings.get_int("port", 0), 4711);
    EXPECT_EQ(settings.find("batch")->get_int("max_tokens", 0), 99);
  };
  expect(checked_settings({"--config", file}));
  expect(checked_settings({}, {.environment = {{"ALATE_CONFIG", file}}}));
  expect(checked_settings({}, {.environment = {{"XDG_CONFIG_HOME", (folder.path() / "config").string()}}}));
  const ProgramSetting nowhere = {.environment = {{"XDG_CONFIG_HOME", folder.path().string()}}};
  EXPECT_EQ(checked_settings({}, nowhere).get_int("port", 0), 11433);
}

TEST(CliServeConfiguration, OptionsBeatVariablesBeatTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("alate.yaml", "max_inputs: 1\nmax_queue_size: 1\nkeep_alive: 1s\n").string();
  const auto settings = checked_settings({"--config", file, "--max-inputs", "3"},
                                         {.environment = {{"ALATE_MAX_INPUTS", "2"}, {"ALATE_MAX_QUEUE_SIZE", "2"}}});
  EXPECT_EQ(settings.get_int("max_inputs", 0), 3);
  EXPECT_EQ(settings.get_int("max_queue_size", 0), 2);
  EXPECT_EQ(settings.get_string("keep_alive", ""), "1s");
}

TEST(CliServeConfiguration, ErrorsNameFileLineAndColumn) {
  const TemporaryFolder folder;
  const std::string file = folder.write("alate.yaml", "host: 127.0.0.1\nprot: 1\n").string();
  expect_has(failure(2, {"serve", "--config", file}), file + ":2:1: there is no key \"prot\"");
  const std::string wrong = folder.write("wrong.yaml", "port: [1, 2]\n").string();
  expect_has(failure(2, {"serve", "--check-config", "--config", wrong}), wrong + ":1:7: port is a list");
  const std::string twice = folder.write("twice.yaml", "port: 1\nport: 2\n").string();
  expect_has(failure(2, {"serve", "--config", twice}), twice + ":2:1: the key \"port\" is there twice");
}

TEST(CliServeConfiguration, AnUnknownKeyOfATermiteYamlIsAWarning) {
  const TemporaryFolder folder;
  const std::string file = folder.write("termite.yaml", "api_url: http://localhost\nport: 4711\n").string();
  const ProgramRun run = run_program({"serve", "--check-config", "--config", file});
  EXPECT_EQ(run.exit_code, 0);
  expect_has(run.error, "api_url");
  expect_has(run.out, "port: 4711");
}

TEST(CliServeConfiguration, ItsPrintedFormIsAConfigurationFile) {
  const TemporaryFolder folder;
  const std::string printed = good({"serve", "--check-config", "--port", "4711", "--preload", "mean", "--models-dir",
                                    models_with_mean(folder), "--cache-ttl", "90s", "--cors", "*"});
  expect_has(printed, "configuration is fine");
  const std::string file = folder.write("printed.yaml", printed).string();
  EXPECT_EQ(good({"serve", "--check-config", "--config", file}), printed);
}

TEST(CliServeConfiguration, CheckFindsAllThatIsMissingAtOnce) {
  const TemporaryFolder folder;
  const std::string error =
      failure(2, {"serve", "--check-config", "--models-dir", models_with_mean(folder), "--preload", "mean,nobody",
                  "--tls-cert", "/no/cert.pem", "--tls-key", "/no/key.pem"});
  expect_has(error, "nobody");
  expect_has(error, "/no/cert.pem");
}

TEST(CliServeConfiguration, AnAliasOfNoModelOrOfAnAliasIsRefusedAtTheStart) {
  const TemporaryFolder folder;
  const std::string models = models_with_mean(folder);
  const std::string good_file =
      folder.write("alate.yaml", "models_dir: " + models + "\naliases: {text-embedding-3-small: mean}\n").string();
  EXPECT_EQ(formats::to_json_text(*checked_settings({"--config", good_file}).find("aliases")),
            R"({"text-embedding-3-small":"mean"})");
  for (const std::string command : {"--quiet", "--check-config"}) {
    const auto refusal = [&](int exit_code, const std::string& aliases) {
      return failure(exit_code, {"serve", command, "--port", "0", "--models-dir", models, "--aliases", aliases});
    };
    const int not_found = command == "--quiet" ? 4 : 2;
    expect_has(refusal(not_found, "text-embedding-3-small=meen"), "text-embedding-3-small");
    expect_has(refusal(2, "a=b,b=mean"), "\"a\" stands for \"b\", which is an alias too");
  }
}

TEST(CliServeConfiguration, KeysAreNeverShown) {
  const ProgramSetting keys = {.environment = {{"ALATE_API_KEYS", "s3cret-1,s3cret-2"}}};
  const std::string printed = good({"serve", "--check-config"}, keys);
  EXPECT_EQ(printed.find("s3cret"), std::string::npos);
  expect_has(printed, "api_keys: 2");
  EXPECT_EQ(checked_settings({}, keys).get_int("api_keys", 0), 2);
  const std::string error = failure(2, {"serve"}, {.environment = {{"ALATE_API_KEYS", "s3cret 1"}}});
  EXPECT_EQ(error.find("s3cret"), std::string::npos) << error;
}

TEST(CliServeConfiguration, SettingsWithoutEffectAreWarnedOf) {
  const ProgramRun run = run_program({"serve", "--check-config", "--allow-downloads"});
  EXPECT_EQ(run.exit_code, 0);
  expect_has(run.error, "allow_downloads");
  expect_has(run_program({"serve", "--check-config", "--host", "0.0.0.0"}).error, "api_keys");
}

TEST(CliConfiguration, EveryCommandTakesWhatItSharesFromTheFile) {
  const TemporaryFolder folder;
  const std::string models = models_with_mean(folder);
  const std::string file =
      folder.write("alate.yaml", "models_dir: " + models + "\noutput: csv\nport: 4711\nlog: {level: off}\n").string();
  const std::string csv = good({"embed", "mean", "cat", "--models-dir", models, "--output", "csv"});
  EXPECT_EQ(good({"embed", "mean", "cat", "--config", file}), csv);
  EXPECT_EQ(good({"embed", "mean", "cat"}, {.environment = {{"ALATE_CONFIG", file}}}), csv);
  const ProgramSetting json = {.environment = {{"ALATE_CONFIG", file}, {"ALATE_OUTPUT", "jsonl"}}};
  EXPECT_NE(good({"embed", "mean", "cat"}, json), csv);
  EXPECT_EQ(good({"embed", "mean", "cat", "--output", "csv"}, json), csv);
}

TEST(CliConfiguration, AWrongFileIsAnErrorOfEveryCommand) {
  const TemporaryFolder folder;
  const std::string file = folder.write("alate.yaml", "threads: 2\nport: x\n").string();
  expect_has(failure(2, {"version", "--config", file}), file + ":2:7: port is \"x\"");
  const std::string policy = folder.write("policy.yaml", "policy: maybe\n").string();
  expect_has(failure(2, {"version", "--config", policy}), policy + ":1:9: policy is \"maybe\"");
}

TEST(CliPs, HasHelpWithAnExample) {
  const std::string help = good({"ps", "--help"});
  expect_has(help, "\n  --url URL");
  expect_has(help, "\nExample:\n  alate ps");
  for (const std::string& line : lines_of(help)) EXPECT_LE(line.size(), 100u) << line;
}

TEST(CliPs, ShowsATableOfWhatIsLoaded) {
  OneAnswer server(200, R"({"models": [
      {"name": "owner/name", "backend": "cpu", "dtype": "float32", "size": 91000000, "queue": {"jobs": 3},
       "expires_at": "2026-11-21T15:04:05.123Z"},
      {"name": "b", "size": 1}]})");
  const auto lines = lines_of(good({"ps", "--url", server.url()}));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "NAME        BACKEND  DTYPE    MEMORY   QUEUE  UNTIL");
  EXPECT_EQ(lines[1], "owner/name  cpu      float32  91.0 MB  3      2026-11-21T15:04:05Z");
  EXPECT_EQ(lines[2], "b           -        -        0.0 MB   -      it is unloaded");
  expect_has(server.asked(), "GET /api/ps HTTP/1.1\r\n");
}

TEST(CliPs, FindsTheServerAndItsKeyInTheSettings) {
  OneAnswer server(200, R"({"models": []})");
  const TemporaryFolder folder;
  const std::string file =
      folder.write("alate.yaml", "host: 0.0.0.0\nport: " + server.port() + "\nbase_path: /ai\napi_keys: [k1, k2]\n")
          .string();
  EXPECT_EQ(lines_of(good({"ps", "--config", file})).size(), 1u);
  const std::string asked = server.asked();
  expect_has(asked, "GET /ai/api/ps HTTP/1.1\r\n");
  expect_has(asked, "Authorization: Bearer k1\r\n");
}

TEST(CliPs, ShowsAKeyWithTheRoleAdminWhereTheSettingsHaveOne) {
  OneAnswer server(200, R"({"models": []})");
  const TemporaryFolder folder;
  const std::string file =
      folder.write("alate.yaml", "port: " + server.port() + "\napi_keys: [k1, {key: k2, role: admin}]\n").string();
  EXPECT_EQ(lines_of(good({"ps", "--config", file})).size(), 1u);
  expect_has(server.asked(), "Authorization: Bearer k2\r\n");
  OneAnswer refuses(403, "{}");
  expect_has(failure(6, {"ps", "--url", refuses.url()}), "role admin");
}

TEST(CliLoad, AsksTheServerForAModelByName) {
  OneAnswer server(200, R"({"model": "owner/name", "loaded": true})");
  EXPECT_EQ(good({"load", "owner/name", "--for", "10m", "--url", server.url()}), "");
  const std::string asked = server.asked();
  expect_has(asked, "POST /api/load HTTP/1.1\r\n");
  expect_has(asked, R"({"model":"owner/name","keep_alive":"10m"})");
  OneAnswer other(200, R"({"model": "owner/name", "loaded": false})");
  EXPECT_EQ(good({"unload", "owner/name", "--url", other.url(), "--output", "json"}),
            "{\"model\":\"owner/name\",\"loaded\":false}\n");
  expect_has(other.asked(), "POST /api/unload HTTP/1.1\r\n");
}

TEST(CliLoad, SaysWhatTheServerSays) {
  OneAnswer missing(404, R"({"error": "there is no model \"b\"", "code": "not_found"})");
  expect_has(failure(4, {"load", "b", "--url", missing.url()}), "there is no model \"b\"");
  OneAnswer full(503, R"({"error": "there is no room in memory for the model b", "code": "overloaded"})");
  expect_has(failure(6, {"load", "b", "--url", full.url()}), "there is no room in memory");
  OneAnswer refuses(403, "{}");
  expect_has(failure(6, {"unload", "b", "--url", refuses.url()}), "role admin");
}

TEST(CliPs, GivesTheBodyAsJson) {
  OneAnswer server(200, R"({"models": [{"name": "a", "more": 1}]})");
  EXPECT_EQ(good({"ps", "--url", server.url(), "--output", "json"}), "{\"models\":[{\"name\":\"a\",\"more\":1}]}\n");
}

TEST(CliPs, SaysWhyThereIsNoAnswer) {
  std::string port;
  {
    const OneAnswer gone(200, "");
    port = gone.port();
  }
  expect_has(failure(6, {"ps", "--url", "http://127.0.0.1:" + port}), port);
  expect_has(failure(6, {"ps"}, {.environment = {{"ALATE_PORT", port}}}), port);
  OneAnswer keyed(401, "{}");
  expect_has(failure(6, {"ps", "--url", keyed.url()}), "--api-key");
  OneAnswer stranger(404, "<html>");
  expect_has(failure(6, {"ps", "--url", stranger.url()}), "404");
  OneAnswer confused(200, "<html>");
  expect_has(failure(6, {"ps", "--url", confused.url()}), "--url");
  expect_has(failure(2, {"ps", "--url", "ftp://nowhere"}), "ftp");
}

}  // namespace
}  // namespace alate::tests
