#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/os/program_path.h"
#include "server/settings/settings_documentation.h"
#include "server/settings/settings_loading.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::server {
namespace {

using base::error_of;
using namespace std::chrono_literals;

// Sources whose parts live as long as they do.
struct Given {
  std::map<std::string, std::vector<std::string>, std::less<>> options = {};
  std::map<std::string, std::string> variables = {};
  std::string yaml = {};
  std::string name = "alate.yaml";
  bool lenient = false;

  LoadedSettings load() const {
    ConfigurationFile file = parse_configuration(yaml, name);
    file.lenient = lenient;
    const auto environment = [this](const std::string& variable) {
      const auto found = variables.find(variable);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return load_settings({.options = options, .environment = environment, .file = &file});
  }
  Settings settings() const { return load().settings; }
  std::string refusal() const {
    const Error error = error_of([&] { load(); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.message();
  }
};

Settings of_yaml(const std::string& yaml) { return Given{.yaml = yaml}.settings(); }

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
}

void expect_refusal(const std::string& yaml, const std::string& place, const std::string& allowed) {
  const std::string message = Given{.yaml = yaml}.refusal();
  EXPECT_TRUE(message.starts_with("alate.yaml:" + place)) << message;
  expect_has(message, allowed);
}

TEST(Settings, HaveTheDefaultsOfTheContract) {
  const Settings settings = Given{}.settings();
  EXPECT_EQ(settings.host, "127.0.0.1");
  EXPECT_EQ(settings.port, 11433);
  EXPECT_EQ(settings.keep_alive, 5min);
  EXPECT_TRUE(settings.listens_on_tcp);
  EXPECT_TRUE(settings.api_keys.empty());
  EXPECT_EQ(settings.log_level, base::LogLevel::info);
}

TEST(Settings, AreReadFromAllKeysOfTheContract) {
  const Settings settings = of_yaml(R"(
host: 0.0.0.0
port: 8080
health_port: 8081
base_path: /models-api/
models_dir: /srv/models
backend_priority: [onnx, xla, go]
gpu: off
policy: strict
keep_alive: 0
max_loaded_models: 3
max_memory_mb: 4096
preload:
  - owner/a
  - owner/b
aliases: {text-embedding-3-small: owner/a, "nomic-embed-text:v1": "builtin:minilm"}
model_strategies:
  owner/a: eager
  owner/c: lazy
max_concurrent_requests: 10
max_queue_size: 20
request_timeout: 1m30s
max_body_mb: 5
batch: {max_tokens: 100, max_wait_ms: 2.5}
cache: {ttl: 10m, size: 1000}
api_keys: [abc, "0123"]
tls: {cert: c.pem, key: k.pem}
cors: ["https://a.example", "*"]
content_security: {allow_private: false}
allow_downloads: true
log: {level: debug, style: json}
)");
  EXPECT_EQ(settings.host, "0.0.0.0");
  EXPECT_EQ(settings.port, 8080);
  EXPECT_EQ(settings.health_port, 8081);
  EXPECT_EQ(settings.base_path, "/models-api");
  EXPECT_EQ(settings.models_dir, "/srv/models");
  EXPECT_EQ(settings.backend_priority, (std::vector<std::string>{"onnx", "xla", "go"}));
  EXPECT_EQ(settings.gpu, "off");
  EXPECT_EQ(settings.policy, "strict");
  EXPECT_EQ(settings.keep_alive, 0s);
  EXPECT_EQ(settings.max_loaded_models, 3u);
  EXPECT_EQ(settings.max_memory_mb, 4096u);
  EXPECT_EQ(settings.preload, (std::vector<std::string>{"owner/a", "owner/b"}));
  EXPECT_EQ(settings.aliases, (std::map<std::string, std::string>{{"text-embedding-3-small", "owner/a"},
                                                                  {"nomic-embed-text:v1", "builtin:minilm"}}));
  EXPECT_EQ(settings.model_strategies.at("owner/a"), LoadStrategy::eager);
  EXPECT_EQ(settings.model_strategies.at("owner/c"), LoadStrategy::lazy);
  EXPECT_EQ(settings.max_concurrent_requests, 10u);
  EXPECT_EQ(settings.max_queue_size, 20u);
  EXPECT_EQ(settings.request_timeout, 90s);
  EXPECT_EQ(settings.max_body_mb, 5u);
  EXPECT_EQ(settings.batch_max_tokens, 100u);
  EXPECT_EQ(settings.batch_max_wait, 2500us);
  EXPECT_EQ(settings.cache_ttl, 10min);
  EXPECT_EQ(settings.cache_size, 1000u);
  EXPECT_EQ(settings.api_keys, (std::vector<std::string>{"abc", "0123"}));
  EXPECT_EQ(settings.tls_certificate, "c.pem");
  EXPECT_EQ(settings.tls_key, "k.pem");
  EXPECT_EQ(settings.cors, (std::vector<std::string>{"https://a.example", "*"}));
  EXPECT_TRUE(settings.allow_downloads);
  EXPECT_EQ(settings.log_level, base::LogLevel::debug);
  EXPECT_EQ(settings.log_style, base::LogStyle::json);
}

TEST(Settings, LimitsOfModelsAreTheServersOwnUnlessTheyAreGiven) {
  EXPECT_FALSE(Given{}.settings().max_memory_mb.has_value());
  EXPECT_FALSE(of_yaml("max_loaded_models: auto\n").max_loaded_models.has_value());
  EXPECT_EQ(of_yaml("max_loaded_models: 0\n").max_loaded_models, 0u);
  expect_has(settings_as_yaml(Given{}.settings()), "max_memory_mb: \"auto\"");
  expect_refusal("max_memory_mb: much\n", "1:16: max_memory_mb", "auto, or a whole number from 0");
}

TEST(Settings, KeysMayHaveARole) {
  const Settings settings =
      of_yaml("api_keys: [abc, \"metrics m:1\", {key: \"use:admin:x\", role: admin}, {key: plain}]\n");
  EXPECT_EQ(settings.api_keys, (std::vector<std::string>{"abc", "metrics m:1", "admin use:admin:x", "use plain"}));
  Given by_option;
  by_option.options["--api-keys"] = {"abc,admin:x, admin s3cret"};
  EXPECT_EQ(by_option.settings().api_keys, (std::vector<std::string>{"abc", "admin:x", "admin s3cret"}));
  for (const char* wrong : {"{role: admin}", "{key: a, role: root}", "{key: \"a b\", role: admin}", "{key: a, name: b}",
                            "{key: [a]}", "root s3cret", "admin a b"}) {
    const std::string refusal = Given{.yaml = "api_keys: [" + std::string(wrong) + "]\n"}.refusal();
    EXPECT_EQ(refusal.find("s3cret"), std::string::npos) << refusal;
  }
}

TEST(Settings, TakeTheStrongestSource) {
  Given given{.variables = {{"TERMITE_GPU", "cuda"}}};
  EXPECT_EQ(given.settings().gpu, "cuda");
  given.yaml = "gpu: tpu\n";
  EXPECT_EQ(given.settings().gpu, "tpu");
  given.variables["ALATE_GPU"] = "coreml";
  EXPECT_EQ(given.settings().gpu, "coreml");
  given.options["--gpu"] = {"off"};
  EXPECT_EQ(given.settings().gpu, "off");
}

TEST(Settings, EveryOneIsReadFromItsOptionItsVariableAndItsKeyAlike) {
  // A value for each kind that is not the default of any setting.
  const auto example = [](const Setting& setting) -> std::string {
    switch (setting.kind) {
      case SettingKind::choice: return std::string(setting.choices.back());
      case SettingKind::boolean:
      case SettingKind::negation: return "true";
      case SettingKind::limit: return "7";
      case SettingKind::count: return setting.key == "max_total_body_mb" ? "700" : "7";
      case SettingKind::duration: return "77s";
      case SettingKind::milliseconds: return "7";
      case SettingKind::list: return setting.key == "cors" ? "https://a.example" : "a,b";
      case SettingKind::strategies: return "a=eager,b=lazy";
      case SettingKind::aliases:
      case SettingKind::folders: return "a=m,b=n";
      case SettingKind::text: return setting.key == "base_path" ? "/a" : "a";
      case SettingKind::group: break;
    }
    return "";
  };
  const auto partner = [](const Setting& setting) -> std::string {
    return setting.key == "tls.cert" ? "--tls-key" : setting.key == "tls.key" ? "--tls-cert" : "";
  };
  for (const Setting& setting : settings_table()) {
    if (setting.option.empty()) continue;
    SCOPED_TRACE(setting.key);
    Given base;
    if (const std::string name = partner(setting); !name.empty()) base.options[name] = {"other"};
    const std::string value = example(setting);
    Given by_option = base, by_variable = base, by_file = base;
    by_option.options[std::string(setting.option)] = {value};
    by_variable.variables[environment_variable(setting)] = value;
    const std::size_t dot = setting.key.find('.');
    const std::string in_yaml = setting.kind == SettingKind::strategies ? "{a: eager, b: lazy}"
                                : setting.kind == SettingKind::aliases || setting.kind == SettingKind::folders
                                    ? "{a: m, b: n}"
                                    : value;
    by_file.yaml = dot == std::string_view::npos ? std::string(setting.key) + ": " + in_yaml + "\n"
                                                 : std::string(setting.key.substr(0, dot)) + ":\n  " +
                                                       std::string(setting.key.substr(dot + 1)) + ": " + in_yaml + "\n";
    const std::string wanted = settings_as_yaml(by_option.settings());
    EXPECT_EQ(settings_as_yaml(by_variable.settings()), wanted);
    EXPECT_EQ(settings_as_yaml(by_file.settings()), wanted);
    if (setting.scope != SettingScope::commands) {
      Given without = base;
      if (!partner(setting).empty()) without.options[std::string(setting.option)] = {"other"};
      EXPECT_NE(settings_as_yaml(without.settings()), wanted);
    }
  }
}

TEST(Settings, ListsComeWithCommasOrRepeated) {
  EXPECT_EQ(of_yaml("preload: a, b\n").preload, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((Given{.options = {{"--preload", {"a,b", "c"}}}}.settings().preload),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE((Given{.options = {{"--preload", {""}}}, .yaml = "preload: [a]\n"}.settings().preload.empty()));
  EXPECT_TRUE((Given{.options = {}, .yaml = "preload: []\n"}.settings().preload.empty()));
}

TEST(Settings, AnOptionGivenTwiceCountsWithItsLastValue) {
  EXPECT_EQ((Given{.options = {{"--port", {"1", "2"}}}}.settings().port), 2);
}

TEST(Settings, RefusalsSayWhereWhatAndWhatIsAllowed) {
  EXPECT_EQ(Given{.yaml = "# ports\nport: 70000\n"}.refusal(),
            "alate.yaml:2:7: port is \"70000\"; it must be a whole number from 0 to 65535");
  EXPECT_EQ((Given{.options = {{"--port", {"x"}}}}.refusal()),
            "--port is \"x\"; it must be a whole number from 0 to 65535");
  EXPECT_EQ((Given{.variables = {{"ALATE_BATCH_MAX_TOKENS", "0"}}}.refusal()),
            "ALATE_BATCH_MAX_TOKENS is \"0\"; it must be a whole number from 1 to 1048576");
  expect_refusal("port: -1\n", "1:7: port", "a whole number");
  expect_refusal("port: 1.5\n", "1:7: port", "a whole number");
  expect_refusal("port: 99999999999999999999\n", "1:7: port", "a whole number");
  expect_refusal("keep_alive: soon\n", "1:13: keep_alive", "a time like");
  expect_refusal("keep_alive: -1\n", "1:13: keep_alive", "a time like");
  expect_refusal("idle_timeout: 1ms\n", "1:15: idle_timeout", "from 100ms");
  expect_refusal("batch: {max_wait_ms: nan}\n", "1:22: batch.max_wait_ms", "a number from 0 to 10000");
  expect_refusal("batch: {max_wait_ms: 1e300}\n", "1:22: batch.max_wait_ms", "a number from 0 to 10000");
  expect_refusal("policy: maybe\n", "1:9: policy", "one of strict, warn, allow");
  expect_refusal("allow_downloads: maybe\n", "1:18: allow_downloads", "true or false");
  expect_refusal("log: {level: loud}\n", "1:14: log.level", "trace, debug");
  expect_refusal("cors: [example.org]\n", "1:7: cors", "origins like");
  expect_refusal("cors: [https://a/path]\n", "1:7: cors", "origins like");
  expect_refusal("host: a b\n", "1:7: host", "an address");
  expect_refusal("base_path: api\n", "1:12: base_path", "a path like");
  expect_refusal("base_path: /a/../b\n", "1:12: base_path", "a path like");
  expect_refusal("model_strategies: {a: always}\n", "1:19: model_strategies", "eager or lazy");
  expect_refusal("unix_socket: /" + std::string(107, 'a') + "\n", "1:14: unix_socket", "107 bytes");
}

TEST(Settings, RefuseValuesOfTheWrongKind) {
  expect_refusal("port: [1]\n", "1:7: port is a list", "a whole number");
  expect_refusal("host: {a: b}\n", "1:7: host is a group of keys", "an address");
  expect_refusal("log: info\n", "1:6: log is a value", "level, style");
  expect_refusal("preload: {a: b}\n", "1:10: preload is a group of keys", "names of models");
  expect_refusal("preload: [[a]]\n", "1:11: preload is a list", "names of models");
  expect_refusal("model_strategies: [a]\n", "1:19: model_strategies is a list", "eager");
  expect_refusal("content_security: yes\n", "1:19: content_security is a value", "group of keys");
}

TEST(Settings, UnknownKeysAreErrorsThatNameTheNearest) {
  EXPECT_EQ(Given{.yaml = "prot: 1\n"}.refusal(), "alate.yaml:1:1: there is no key \"prot\"; did you mean port?");
  EXPECT_EQ(Given{.yaml = "threadpool: 1\n"}.refusal(),
            "alate.yaml:1:1: there is no key \"threadpool\"; the nearest one is threads; docs/configuration.md lists "
            "all keys");
  expect_refusal("max_queue-size: 1\n", "1:1: there is no key \"max_queue-size\"", "did you mean max_queue_size?");
  expect_refusal("batch:\n  max_token: 1\n", "2:3: there is no key \"max_token\" in batch", "did you mean max_tokens?");
  expect_refusal("batchs: {}\n", "1:1: there is no key \"batchs\"", "did you mean batch?");
  expect_refusal("max-queue-size: 1\n", "1:1: there is no key \"max-queue-size\"", "did you mean max_queue_size?");
  expect_refusal("log.level: info\n", "1:1: there is no key \"log.level\"", "\"log: {level: …}\"");
  expect_refusal("max_tokens: 1\n", "1:1: there is no key \"max_tokens\"", "\"batch: {max_tokens: …}\"");
  expect_refusal("batch:\n  port: 1\n", "2:3: there is no key \"port\" in batch", "outside batch");
  expect_refusal("tls: {password: x}\n", "1:7: there is no key \"password\" in tls", "cert, key");
}

TEST(Settings, UnknownKeysOfATermiteYamlAreWarnings) {
  const LoadedSettings loaded =
      Given{.yaml = "api_url: x\nport: 1\nbatch: {pool: 3}\n", .name = "termite.yaml", .lenient = true}.load();
  EXPECT_EQ(loaded.settings.port, 1);
  ASSERT_EQ(loaded.unknown_keys.size(), 2u);
  EXPECT_TRUE(loaded.unknown_keys[0].starts_with("termite.yaml:1:1: there is no key \"api_url\""));
  expect_has((Given{.yaml = "port: x\n", .lenient = true}.refusal()), "whole number");
}

TEST(Settings, AFileMustBeRightEvenWhereAnOptionReplacesIt) {
  expect_has((Given{.options = {{"--port", {"1"}}}, .yaml = "port: x\n"}.refusal()), "alate.yaml:1:7");
}

TEST(Settings, SecretsAreNeitherShownNorQuoted) {
  const std::string refusal = Given{.yaml = "api_keys: [\"s3cret key\"]\n"}.refusal();
  EXPECT_EQ(refusal.find("s3cret"), std::string::npos) << refusal;
  const Settings settings = of_yaml("api_keys: [s3cret, t0ken]\n");
  const std::string yaml = settings_as_yaml(settings), json = formats::to_json_text(settings_as_json(settings));
  EXPECT_EQ(yaml.find("s3cret"), std::string::npos);
  EXPECT_EQ(json.find("s3cret"), std::string::npos);
  expect_has(yaml, "# api_keys: 2, not shown");
  expect_has(json, "\"api_keys\":2");
}

TEST(Settings, PrintedOnesReadBackTheSame) {
  const std::string printed = settings_as_yaml(of_yaml(R"(
host: "::1"
models_dir: "/srv/\"models\" # 1"
preload: ["a: b", "Ünï"]
aliases: {"a: b": "Ünï", c: d}
model_strategies: {"a b": eager, c: lazy}
batch: {max_wait_ms: 0.25}
keep_alive: 1h30m
cache: {ttl: 1500ms}
no_mmap: True
)"));
  EXPECT_EQ(settings_as_yaml(of_yaml(printed)), printed);
  EXPECT_EQ(of_yaml(printed).preload, (std::vector<std::string>{"a: b", "Ünï"}));
  EXPECT_EQ(of_yaml(printed).models_dir, "/srv/\"models\" # 1");
  EXPECT_EQ(of_yaml(printed).batch_max_wait, 250us);
  EXPECT_FALSE(of_yaml(printed).map_files);
  const std::string defaults = settings_as_yaml(Given{}.settings());
  EXPECT_EQ(settings_as_yaml(of_yaml(defaults)), defaults);
}

TEST(Settings, ThatContradictEachOtherAreRefused) {
  expect_has(Given{.yaml = "tls: {cert: a}\n"}.refusal(), "tls.key");
  expect_has((Given{.options = {{"--tls-key", {"a"}}}}.refusal()), "tls.cert");
  expect_has(Given{.yaml = "health_port: 11433\n"}.refusal(), "health_port");
  expect_has(Given{.yaml = "max_body_mb: 10\nmax_total_body_mb: 5\n"}.refusal(), "max_total_body_mb");
  EXPECT_EQ(of_yaml("max_body_mb: 1000\n").max_total_body_mb, 1000u);
}

TEST(Settings, AliasesAreRefusedWithWhatIsWrong) {
  expect_has(Given{.yaml = "aliases: {a: b, b: c}\n"}.refusal(), "\"a\" stands for \"b\", which is an alias too");
  expect_has(Given{.yaml = "aliases: {a: b, b: a}\n"}.refusal(), "alias too");
  expect_has(Given{.yaml = "aliases: {a: a}\n"}.refusal(), "alias too");
  expect_has((Given{.options = {{"--aliases", {"a=b,b=c"}}}}.refusal()), "--aliases: \"a\" stands for");
  expect_has((Given{.options = {{"--aliases", {"a"}}}}.refusal()), "--aliases is \"a\"; it must be a model for each");
  expect_has((Given{.options = {{"--aliases", {"=b"}}}}.refusal()), "a model for each name");
  expect_has((Given{.options = {{"--aliases", {"a="}}}}.refusal()), "a model for each name");
  expect_has(Given{.yaml = "aliases: [a]\n"}.refusal(), "\"alias: model\"");
  // The folder of an index may be called like another.
  EXPECT_EQ(Given{.yaml = "indexes: {a: b, b: b}\n"}.settings().indexes,
            (std::map<std::string, std::string>{{"a", "b"}, {"b", "b"}}));
  expect_has(Given{.yaml = "indexes: [a]\n"}.refusal(), "\"name: folder\"");
  expect_has(Given{.yaml = "indexes: {a=b: c}\n"}.refusal(), "cannot have the character =");
  expect_has(Given{.yaml = "indexes: {../a: c}\n"}.refusal(), "a folder for each name");
  expect_has((Given{.options = {{"--indexes", {"a="}}}}.refusal()), "a folder for each name");
  expect_has(Given{.yaml = "aliases: {a=b: c}\n"}.refusal(), "1:11: an alias cannot have the character =");
  for (const char* name : {"\"builtin:x\"", "\"hf:a/b\"", "\"\"", "\"a,b\""})
    expect_has(Given{.yaml = "aliases: {" + std::string(name) + ": c}\n"}.refusal(), "a model for each name");
}

TEST(Settings, AUnixSocketAloneReplacesThePort) {
  EXPECT_FALSE(of_yaml("unix_socket: /run/a\n").listens_on_tcp);
  EXPECT_TRUE(of_yaml("unix_socket: /run/a\nport: 11433\n").listens_on_tcp);
  EXPECT_TRUE(of_yaml("unix_socket: /run/a\nhost: 127.0.0.1\n").listens_on_tcp);
}

TEST(Settings, OtherSystemsVariablesAreWishesAndNeverErrors) {
  EXPECT_EQ((Given{.variables = {{"TERMITE_GPU", "fpga"}}}.settings().gpu), "auto");
  EXPECT_EQ((Given{.variables = {{"TERMITE_FORCE_COREML", "1"}}}.settings().gpu), "coreml");
  EXPECT_EQ((Given{.variables = {{"TERMITE_FORCE_COREML", "0"}}}.settings().gpu), "auto");
  EXPECT_EQ((Given{.variables = {{"GOMLX_BACKEND", "go:parallelism=2"}}}.settings().backend_priority),
            (std::vector<std::string>{"go"}));
  EXPECT_EQ((Given{.variables = {{"GOMLX_BACKEND", "xla:cuda,x=1"}}}.settings().backend_priority),
            (std::vector<std::string>{"xla:cuda"}));
  EXPECT_EQ((Given{.variables = {{"MLX_BACKEND", "metal"}}}.settings().backend_priority),
            (std::vector<std::string>{"metal"}));
  EXPECT_EQ((Given{.variables = {{"MLX_BACKEND", "onnx"}}}.settings().backend_priority_origin), "MLX_BACKEND");
  EXPECT_TRUE((Given{.variables = {{"MLX_BACKEND", "vulkan"}}}.settings().backend_priority.empty()));
  EXPECT_TRUE((Given{.variables = {{"GOMLX_BACKEND", "nothing"}}}.settings().backend_priority.empty()));
  EXPECT_TRUE((Given{.variables = {{"HF_HUB_OFFLINE", "YES"}}}.settings().offline));
}

TEST(Settings, SayWhichOfThemHaveNoEffect) {
  EXPECT_TRUE(Given{}.load().idle_settings.empty());
  const LoadedSettings loaded =
      Given{.yaml = "allow_downloads: true\ncontent_security: {x: [1, {y: z}]}\ngpu: cuda\n"}.load();
  ASSERT_EQ(loaded.idle_settings.size(), 2u);
  expect_has(loaded.idle_settings[0], "allow_downloads");
  expect_has(loaded.idle_settings[1], "content_security");
}

TEST(Settings, EveryRowOfTheTableIsWhole) {
  std::set<std::string> keys, options;
  for (const Setting& setting : settings_table()) {
    SCOPED_TRACE(setting.key);
    EXPECT_TRUE(keys.insert(std::string(setting.key)).second);
    EXPECT_TRUE(setting.option.empty() || options.insert(std::string(setting.option)).second);
    EXPECT_FALSE(setting.sentence.empty());
    EXPECT_EQ(setting.scope == SettingScope::commands || setting.kind == SettingKind::group,
              std::holds_alternative<std::monostate>(setting.target));
    EXPECT_LE(setting.sentence.size(), 78u);
    EXPECT_EQ(find_setting(setting.key), &setting);
  }
}

TEST(SettingsDocumentation, FileInDocsIsCurrent) {
  const std::string path = (source_folder() / "docs/configuration.md").string();
  const std::string now = (base::program_path().parent_path() / "configuration.md").string();
  std::ifstream file(path);
  std::stringstream found;
  found << file.rdbuf();
  if (found.str() == settings_documentation()) return;
  std::ofstream(now) << settings_documentation();
  ADD_FAILURE() << "docs/configuration.md is not what the table of settings says: cp " << now << " " << path;
}

}  // namespace
}  // namespace alate::server
