// All server settings. A single table of names, kinds and descriptions (settings_table.cpp) also defines the options of
// `alate serve`, the keys of the configuration file and docs/configuration.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/batch_hint.h"
#include "base/log.h"

namespace alate::server {

/// When a model is loaded.
enum class LoadStrategy {
  eager,  // at startup; never unloaded for being idle
  lazy,   // on the first request that names it
};

struct Settings {
  // Listeners.
  std::string host = "127.0.0.1";
  std::uint16_t port = 11433;              // 0: any free port
  std::uint16_t health_port = 0;           // an additional listener, only for health checks; 0: none
  std::string unix_socket;                 // a path; empty: none
  bool listens_on_tcp = true;              // false: unix_socket is given, but neither host nor port
  std::string base_path;                   // prefix of every route: "/models-api"
  std::string tls_certificate, tls_key;    // PEM files; both or none
  std::vector<std::string> api_keys;       // KEY or "ROLE KEY": see api_keys.h
  std::vector<std::string> cors;           // origins of web pages that may call the server; "*": all
  std::vector<std::string> allowed_hosts;  // additional Host names accepted by a server without keys

  // Models.
  std::filesystem::path models_dir;
  std::string default_model;  // for requests that name none; a name, or a path given on the command line
  std::vector<std::string> preload;
  std::map<std::string, std::string> aliases;            // names that clients send, and the models they stand for
  std::map<std::string, LoadStrategy> model_strategies;  // by name; default is lazy
  std::vector<std::string> backend_priority;             // NAME[:DEVICE]; empty: auto
  std::string backend_priority_origin;                   // where it was set: "--backend", "GOMLX_BACKEND"
  std::string device;                                    // for backends listed without one
  std::string dtype;                                     // empty: as stored
  std::string gpu = "auto";
  std::string gpu_origin;
  std::string policy = "warn";
  std::chrono::nanoseconds keep_alive = std::chrono::minutes(5);    // 0: never unload
  std::chrono::nanoseconds max_keep_alive = std::chrono::hours(1);  // upper bound for requests
  std::optional<std::size_t> max_loaded_models;                     // 0: unlimited; none: depends on free memory
  std::optional<std::size_t> max_memory_mb;                         // of weights and caches; 0 and none as above
  std::optional<std::size_t> generation_cache_mb;                   // of one language model; none: of max_memory_mb
  std::size_t threads = 0;                                          // 0: one per core
  bool pin_threads = false;                                         // pins each worker to a core
  bool map_files = true;
  std::map<std::string, std::string> indexes;  // names that clients send, and folders of `alate index`
  bool hub_cache = false;                      // offers the models of huggingface_hub's cache too
  bool allow_downloads = false;                // requests may have models fetched from the hub
  std::vector<std::string> download_owners;    // whose; "*": anybody's
  std::size_t max_download_mb = 0;             // files of one model together; 0: any number
  bool offline = false;

  // Limits.
  std::size_t max_concurrent_requests = 512;                             // in progress at a time; more wait
  std::size_t max_queue_size = 1024;                                     // waiting requests; more are refused
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(120);  // 0: none
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(75);
  std::chrono::nanoseconds transfer_timeout = std::chrono::minutes(5);  // for a whole body, and for a whole answer
  std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(30);
  std::size_t max_body_mb = 32;
  std::size_t max_total_body_mb = 512;    // of all requests in flight together
  std::size_t max_total_answer_mb = 512;  // of answers not yet read by their clients
  std::size_t max_connections = 4096;
  std::size_t max_client_percent = 75;    // share of a shared resource that one client may have
  std::size_t max_inputs = 2048;          // texts per request
  std::size_t generation_max_tokens = 0;  // of a text; 0: the context's
  std::size_t generation_max_queue_tokens = std::size_t{1} << 20;       // of prompts that wait or are computed
  std::chrono::nanoseconds generation_timeout = std::chrono::hours(1);  // of a stream; 0: none
  std::size_t max_requests_per_minute = 0, max_tokens_per_minute = 0;   // of one client's texts; 0: any number
  std::size_t batch_max_tokens = backends::BatchHint().rows;
  std::chrono::nanoseconds batch_max_wait{};
  std::chrono::nanoseconds cache_ttl = std::chrono::minutes(5);
  std::size_t cache_size = 0;  // cached results; 0: no cache

  // Logging.
  base::LogLevel log_level = base::LogLevel::info;
  base::LogStyle log_style = base::LogStyle::terminal;
  bool quiet = false;
};

}  // namespace alate::server
