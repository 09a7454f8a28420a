#include "server/settings/settings_table.h"

#include <algorithm>
#include <chrono>

#include "alate/backend_choice.h"
#include "folders/cache_layout.h"
#include "server/settings/settings_keys.h"

namespace alate::server {
namespace {

using Kind = SettingKind;
using Scope = SettingScope;

constexpr std::uint64_t nanoseconds(std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(duration.count());
}

constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 30;  // so that sums, and megabytes in bytes, fit in 64 bits
constexpr std::uint64_t kWeek = nanoseconds(std::chrono::hours(24 * 7));
constexpr std::uint64_t kDay = nanoseconds(std::chrono::hours(24));
constexpr std::uint64_t kYears = nanoseconds(std::chrono::hours(24 * 365 * 10));

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

bool is_host(std::string_view text) {
  return !text.empty() && is_printable(text) && text.find_first_of("/[]@?#\"\\") == std::string_view::npos;
}

bool is_base_path(std::string_view text) {
  if (text.empty()) return true;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/-._~").find(c) != std::string_view::npos;
  };
  return text.front() == '/' && std::ranges::all_of(text, is_allowed) && text.find("//") == std::string_view::npos &&
         text.find("/.") == std::string_view::npos;
}

// sockaddr_un has 108 bytes for the path and its terminator.
bool is_socket_path(std::string_view text) { return text.size() <= 107 && text.find('\0') == std::string_view::npos; }

// Keys contain no spaces, so a space can only follow a role.
bool is_key(std::string_view text) {
  const auto entry = parse_key_entry(text);
  return entry && !entry->key.empty() && is_printable(entry->key) && entry->key.size() <= 4096;
}

bool is_origin(std::string_view text) {
  if (text == "*") return true;
  const std::size_t scheme = text.find("://");
  return scheme != std::string_view::npos && scheme > 0 && scheme + 3 < text.size() && is_printable(text) &&
         text.find('/', scheme + 3) == std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

bool is_owner(std::string_view text) {
  return text == "*" || (text.find('/') == std::string_view::npos && folders::is_repo_id(text));
}

// "=" and "," separate aliases in options; the two prefixes say where a model is.
bool is_alias(std::string_view text) {
  return is_name(text) && text.size() <= 256 && text.find_first_of("=,") == std::string_view::npos &&
         !text.starts_with("builtin:") && !text.starts_with("hf:");
}

bool is_index_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

bool is_backend(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '-' || c == '_';
  });
}

std::vector<Setting> make_table() {
  std::vector<Setting> rows = {
      {.key = "host",
       .option = "--host",
       .value = "ADDRESS",
       .sentence = "the address that it listens on",
       .target = &Settings::host,
       .fits = is_host,
       .must_be = "an address, or a name of this machine",
       .title = "Where it listens"},
      {.key = "port",
       .option = "--port",
       .value = "N",
       .sentence = "0: one that is free; the server says which",
       .kind = Kind::count,
       .target = &Settings::port,
       .most = 65535},
      {.key = "health_port",
       .option = "--health-port",
       .value = "N",
       .sentence = "a port more, for health alone; 0: none",
       .kind = Kind::count,
       .target = &Settings::health_port,
       .most = 65535},
      {.key = "unix_socket",
       .option = "--unix-socket",
       .value = "PATH",
       .sentence = "a Unix socket; without --host and --port, instead of them",
       .target = &Settings::unix_socket,
       .fits = is_socket_path,
       .must_be = "a path of at most 107 bytes"},
      {.key = "base_path",
       .option = "--base-path",
       .value = "PATH",
       .sentence = "put before every route, for example /models-api",
       .target = &Settings::base_path,
       .fits = is_base_path,
       .must_be = "a path like /models-api, of letters, digits and -._~"},
      {.key = "tls.cert",
       .option = "--tls-cert",
       .value = "FILE",
       .sentence = "the certificate's chain, PEM: serve HTTPS",
       .target = &Settings::tls_certificate},
      {.key = "tls.key",
       .option = "--tls-key",
       .value = "FILE",
       .sentence = "the certificate's private key, PEM",
       .target = &Settings::tls_key},
      {.key = "api_keys",
       .option = "--api-keys",
       .value = "KEY,...",
       .sentence = "answer only requests with one of these; \"ROLE KEY\" for metrics or admin",
       .kind = Kind::list,
       .target = &Settings::api_keys,
       .fits = is_key,
       .must_be = "keys of printable ASCII characters without spaces; before a key and a space, its role: use, metrics "
                  "or admin",
       .is_secret = true},
      {.key = "cors",
       .option = "--cors",
       .value = "ORIGIN,...",
       .sentence = "web pages that may call; *: all",
       .kind = Kind::list,
       .target = &Settings::cors,
       .fits = is_origin,
       .must_be = "\"*\", or origins like https://example.org"},
      {.key = "allowed_hosts",
       .option = "--allowed-hosts",
       .value = "NAME,...",
       .sentence = "further names in Host that a server without keys answers to",
       .kind = Kind::list,
       .target = &Settings::allowed_hosts,
       .fits = is_host,
       .must_be = "names of hosts"},

      {.key = "models_dir",
       .option = "--models-dir",
       .value = "DIR",
       .sentence = "where models are looked up by name",
       .scope = Scope::everywhere,
       .target = &Settings::models_dir,
       .title = "Models"},
      {.key = "model",
       .option = "--model",
       .value = "NAME",
       .sentence = "for requests that name no model (hf:O/N is fetched); repeated: to load too",
       .target = &Settings::default_model},
      {.key = "aliases",
       .option = "--aliases",
       .value = "NAME=M,...",
       .sentence = "further names of models, for clients that send fixed ones",
       .kind = Kind::aliases,
       .target = &Settings::aliases,
       .fits = is_alias,
       .must_be = "a model for each name; no name has =, a comma, or builtin: or hf: before it"},
      {.key = "preload",
       .option = "--preload",
       .value = "NAME,...",
       .sentence = "models to load at the start; hf:OWNER/NAME is fetched",
       .kind = Kind::list,
       .target = &Settings::preload,
       .fits = is_name,
       .must_be = "names of models"},
      {.key = "model_strategies",
       .option = "--model-strategies",
       .value = "M=S,...",
       .sentence = "eager: loaded at the start, for good; lazy: on request",
       .kind = Kind::strategies,
       .target = &Settings::model_strategies},
      {.key = "keep_alive",
       .option = "--keep-alive",
       .value = "TIME",
       .sentence = "unload a model that was not used for so long; 0: never",
       .kind = Kind::duration,
       .target = &Settings::keep_alive,
       .most = kYears},
      {.key = "max_keep_alive",
       .option = "--max-keep-alive",
       .value = "TIME",
       .sentence = "a request may ask for no longer, where keep_alive is shorter",
       .kind = Kind::duration,
       .target = &Settings::max_keep_alive,
       .most = kYears},
      {.key = "max_loaded_models",
       .option = "--max-loaded-models",
       .value = "N",
       .sentence = "models in memory together; 0: any number; auto: by free memory",
       .kind = Kind::limit,
       .target = &Settings::max_loaded_models,
       .most = kMaxCount},
      {.key = "max_memory_mb",
       .option = "--max-memory-mb",
       .value = "N",
       .sentence = "megabytes of weights and caches; 0: any number; auto: 3/4 of what is free",
       .kind = Kind::limit,
       .target = &Settings::max_memory_mb,
       .most = kMaxCount},
      {.key = "hub_cache",
       .option = "--hub-cache",
       .sentence = "offer the models of huggingface_hub's cache too (HF_HUB_CACHE, HF_HOME)",
       .kind = Kind::boolean,
       .target = &Settings::hub_cache},
      {.key = "indexes",
       .option = "--indexes",
       .value = "NAME=DIR,...",
       .sentence = "folders of alate index that POST /api/search may name",
       .kind = Kind::folders,
       .target = &Settings::indexes,
       .fits = is_index_name,
       .must_be = "a folder for each name of up to 64 letters, digits, -, _ and ."},
      {.key = "allow_downloads",
       .option = "--allow-downloads",
       .sentence = "requests may have models of download_owners fetched from the hub",
       .kind = Kind::boolean,
       .target = &Settings::allow_downloads},
      {.key = "download_owners",
       .option = "--download-owners",
       .value = "OWNER,...",
       .sentence = "whose models requests may name as hf:OWNER/NAME; *: anybody's",
       .kind = Kind::list,
       .target = &Settings::download_owners,
       .fits = is_owner,
       .must_be = "\"*\", or names of owners as the hub spells them"},
      {.key = "max_download_mb",
       .option = "--max-download-mb",
       .value = "N",
       .sentence = "megabytes of one model that requests may have fetched; 0: any number",
       .kind = Kind::count,
       .target = &Settings::max_download_mb,
       .most = kMaxCount},
      {.key = "content_security",
       .sentence = "which images and audio may be fetched (not in this version)",
       .kind = Kind::group},

      {.key = "backend_priority",
       .option = "--backend",
       .value = "NAME[:DEVICE]",
       .sentence = "auto, cpu, onnx, xla...; repeated: in order of priority",
       .scope = Scope::everywhere,
       .kind = Kind::list,
       .target = &Settings::backend_priority,
       .fits = is_backend,
       .must_be = "names of backends, NAME or NAME:DEVICE",
       .title = "How it computes"},
      {.key = "device",
       .option = "--device",
       .value = "DEVICE",
       .sentence = "the device of a backend that names none",
       .scope = Scope::everywhere,
       .target = &Settings::device},
      {.key = "policy",
       .option = "--policy",
       .value = "POLICY",
       .sentence = "when that backend is not here: strict, warn or allow",
       .scope = Scope::everywhere,
       .kind = Kind::choice,
       .target = &Settings::policy,
       .choices = {backend_policy_names().begin(), backend_policy_names().end()}},
      {.key = "gpu",
       .option = "--gpu",
       .value = "WHICH",
       .sentence = "auto, cuda, coreml or tpu: such devices first; off: none",
       .scope = Scope::everywhere,
       .kind = Kind::choice,
       .target = &Settings::gpu,
       .choices = {accelerator_kind_names().begin(), accelerator_kind_names().end()}},
      {.key = "dtype",
       .option = "--dtype",
       .value = "TYPE",
       .sentence = "compute in this type: float32, bfloat16, float16, int8, auto",
       .scope = Scope::everywhere,
       .target = &Settings::dtype},
      {.key = "threads",
       .option = "--threads",
       .value = "N",
       .sentence = "0: one for each usable core",
       .scope = Scope::everywhere,
       .kind = Kind::count,
       .target = &Settings::threads,
       .most = 4096},
      {.key = "pin_threads",
       .option = "--pin-threads",
       .sentence = "keep each worker thread on a core of its own",
       .scope = Scope::everywhere,
       .kind = Kind::boolean,
       .target = &Settings::pin_threads},
      {.key = "no_mmap",
       .option = "--no-mmap",
       .sentence = "read files into memory instead of mapping them",
       .scope = Scope::everywhere,
       .kind = Kind::negation,
       .target = &Settings::map_files},
      {.key = "offline",
       .option = "--offline",
       .sentence = "never use the network for models",
       .scope = Scope::everywhere,
       .kind = Kind::boolean,
       .target = &Settings::offline},
      {.key = "batch.max_tokens",
       .option = "--batch-max-tokens",
       .value = "N",
       .sentence = "tokens that are computed together",
       .kind = Kind::count,
       .target = &Settings::batch_max_tokens,
       .least = 1,
       .most = 1 << 20},
      {.key = "batch.max_wait_ms",
       .option = "--batch-max-wait-ms",
       .value = "MS",
       .sentence = "how long a batch that is not full waits for more",
       .kind = Kind::milliseconds,
       .target = &Settings::batch_max_wait,
       .most = nanoseconds(std::chrono::seconds(10))},
      {.key = "cache.size",
       .option = "--cache-size",
       .value = "N",
       .sentence = "results that are kept for each model; 0: none",
       .kind = Kind::count,
       .target = &Settings::cache_size,
       .most = kMaxCount},
      {.key = "cache.ttl",
       .option = "--cache-ttl",
       .value = "TIME",
       .sentence = "for how long they are kept",
       .kind = Kind::duration,
       .target = &Settings::cache_ttl,
       .most = kYears},

      {.key = "max_concurrent_requests",
       .option = "--max-concurrent-requests",
       .value = "N",
       .sentence = "requests under way together; more wait",
       .kind = Kind::count,
       .target = &Settings::max_concurrent_requests,
       .least = 1,
       .most = 1 << 20,
       .title = "Limits"},
      {.key = "max_queue_size",
       .option = "--max-queue-size",
       .value = "N",
       .sentence = "requests that wait; more are refused",
       .kind = Kind::count,
       .target = &Settings::max_queue_size,
       .most = 1 << 20},
      {.key = "generation.cache_mb",
       .option = "--generation-cache-mb",
       .value = "N",
       .sentence = "megabytes of keys and values of a language model; auto: 1/4 of max_memory_mb",
       .kind = Kind::limit,
       .target = &Settings::generation_cache_mb,
       .least = 1,
       .most = kMaxCount},
      {.key = "generation.max_tokens",
       .option = "--generation-max-tokens",
       .value = "N",
       .sentence = "tokens of a text that a request has written; 0: the model's context",
       .kind = Kind::count,
       .target = &Settings::generation_max_tokens,
       .most = kMaxCount},
      {.key = "generation.max_queue_tokens",
       .option = "--generation-max-queue-tokens",
       .value = "N",
       .sentence = "tokens of prompts that wait or are worked on; more are refused",
       .kind = Kind::count,
       .target = &Settings::generation_max_queue_tokens,
       .least = 1,
       .most = kMaxCount},
      {.key = "generation.timeout",
       .option = "--generation-timeout",
       .value = "TIME",
       .sentence = "a stream of text ends after it; 0: no limit",
       .kind = Kind::duration,
       .target = &Settings::generation_timeout,
       .most = kWeek},
      {.key = "max_requests_per_minute",
       .option = "--max-requests-per-minute",
       .value = "N",
       .sentence = "requests for texts that a client may send in a minute; 0: any number",
       .kind = Kind::count,
       .target = &Settings::max_requests_per_minute,
       .most = kMaxCount},
      {.key = "max_tokens_per_minute",
       .option = "--max-tokens-per-minute",
       .value = "N",
       .sentence = "tokens, read and written, of a client's texts in a minute; 0: any number",
       .kind = Kind::count,
       .target = &Settings::max_tokens_per_minute,
       .most = kMaxCount},
      {.key = "request_timeout",
       .option = "--request-timeout",
       .value = "TIME",
       .sentence = "a request that takes longer gets 504; 0: no limit",
       .kind = Kind::duration,
       .target = &Settings::request_timeout,
       .most = kWeek},
      {.key = "header_timeout",
       .option = "--header-timeout",
       .value = "TIME",
       .sentence = "a client has so long to send a request's head",
       .kind = Kind::duration,
       .target = &Settings::header_timeout,
       .least = nanoseconds(std::chrono::milliseconds(100)),
       .most = kDay},
      {.key = "idle_timeout",
       .option = "--idle-timeout",
       .value = "TIME",
       .sentence = "connections without a request are closed after it",
       .kind = Kind::duration,
       .target = &Settings::idle_timeout,
       .least = nanoseconds(std::chrono::milliseconds(100)),
       .most = kDay},
      {.key = "transfer_timeout",
       .option = "--transfer-timeout",
       .value = "TIME",
       .sentence = "a client has so long to send a body or take an answer",
       .kind = Kind::duration,
       .target = &Settings::transfer_timeout,
       .least = nanoseconds(std::chrono::milliseconds(100)),
       .most = kDay},
      {.key = "shutdown_timeout",
       .option = "--shutdown-timeout",
       .value = "TIME",
       .sentence = "how long requests under way may take when it stops",
       .kind = Kind::duration,
       .target = &Settings::shutdown_timeout,
       .most = kDay},
      {.key = "max_body_mb",
       .option = "--max-body-mb",
       .value = "N",
       .sentence = "megabytes of one request",
       .kind = Kind::count,
       .target = &Settings::max_body_mb,
       .least = 1,
       .most = 16384},
      {.key = "max_total_body_mb",
       .option = "--max-total-body-mb",
       .value = "N",
       .sentence = "megabytes of all requests under way",
       .kind = Kind::count,
       .target = &Settings::max_total_body_mb,
       .least = 1,
       .most = 1 << 20},
      {.key = "max_total_answer_mb",
       .option = "--max-total-answer-mb",
       .value = "N",
       .sentence = "megabytes of answers that clients do not take at once",
       .kind = Kind::count,
       .target = &Settings::max_total_answer_mb,
       .least = 1,
       .most = 1 << 20},
      {.key = "max_client_percent",
       .option = "--max-client-percent",
       .value = "N",
       .sentence = "one client's share of each limit; 100 behind a proxy",
       .kind = Kind::count,
       .target = &Settings::max_client_percent,
       .least = 1,
       .most = 100},
      {.key = "max_connections",
       .option = "--max-connections",
       .value = "N",
       .sentence = "connections at a time",
       .kind = Kind::count,
       .target = &Settings::max_connections,
       .least = 1,
       .most = 1 << 20},
      {.key = "max_inputs",
       .option = "--max-inputs",
       .value = "N",
       .sentence = "texts of one request",
       .kind = Kind::count,
       .target = &Settings::max_inputs,
       .least = 1,
       .most = 1 << 20},

      {.key = "log.level",
       .option = "--log-level",
       .value = "LEVEL",
       .sentence = "trace, debug, info, warn, error, off",
       .scope = Scope::everywhere,
       .kind = Kind::choice,
       .target = &Settings::log_level,
       .choices = {"trace", "debug", "info", "warn", "error", "off"},
       .title = "Log"},
      {.key = "log.style",
       .option = "--log-style",
       .value = "STYLE",
       .sentence = "terminal, json, logfmt, noop",
       .scope = Scope::everywhere,
       .kind = Kind::choice,
       .target = &Settings::log_style,
       .choices = {"terminal", "json", "logfmt", "noop"}},
      {.key = "quiet",
       .option = "--quiet",
       .sentence = "no warnings",
       .scope = Scope::everywhere,
       .kind = Kind::boolean,
       .target = &Settings::quiet},

      {.key = "max_length",
       .option = "--max-length",
       .value = "TOKENS",
       .sentence = "cut longer texts, special tokens included",
       .scope = Scope::commands,
       .kind = Kind::count,
       .most = kMaxCount,
       .title = "Commands"},
      {.key = "batch_size",
       .option = "--batch-size",
       .value = "TEXTS",
       .sentence = "most texts in one batch",
       .scope = Scope::commands,
       .kind = Kind::count,
       .most = kMaxCount},
      {.key = "output",
       .option = "--output",
       .value = "FORMAT",
       .sentence = "text, json, jsonl, csv, npy or safetensors",
       .scope = Scope::commands,
       .kind = Kind::choice,
       .choices = {"text", "json", "jsonl", "csv", "npy", "safetensors"}},
  };
  return rows;
}

}  // namespace

std::span<const Setting> settings_table() {
  static const std::vector<Setting> table = make_table();
  return table;
}

const Setting* find_setting(std::string_view key) {
  const auto found = std::ranges::find(settings_table(), key, &Setting::key);
  return found == settings_table().end() ? nullptr : &*found;
}

const Setting* find_setting_of_option(std::string_view option) {
  if (option.empty()) return nullptr;
  const auto found = std::ranges::find(settings_table(), option, &Setting::option);
  return found == settings_table().end() ? nullptr : &*found;
}

std::string environment_variable(const Setting& setting) {
  if (setting.option.empty()) return {};
  std::string name = "ALATE_";
  for (const char c : setting.option.substr(2))
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
  return name;
}

}  // namespace alate::server
