// Everything that can be set about the server. The names, kinds and sentences are one table (settings_table.cpp), which
// also makes the options of `alate serve`, the keys of the configuration file and docs/configuration.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"

namespace alate::server {

/// When a model is in memory.
enum class LoadStrategy {
  eager,  // from the start, and it is never unloaded for being idle
  lazy,   // from the first request that names it
};

struct Settings {
  // Where it listens.
  std::string host = "127.0.0.1";
  std::uint16_t port = 11433;              // 0: one that is free
  std::uint16_t health_port = 0;           // a listener more, for health alone; 0: none
  std::string unix_socket;                 // a path; empty: none
  bool listens_on_tcp = true;              // false: a unix_socket is given, but neither host nor port
  std::string base_path;                   // put before every route: "/models-api"
  std::string tls_certificate, tls_key;    // PEM files; both or none
  std::vector<std::string> api_keys;       // KEY or "ROLE KEY": api_keys.h
  std::vector<std::string> cors;           // origins of web pages that may call; "*": all
  std::vector<std::string> allowed_hosts;  // further names in Host that a server without keys answers to

  // Models.
  std::filesystem::path models_dir;
  std::string default_model;  // for routes whose requests name none; a name, or a path given on the command line
  std::vector<std::string> preload;
  std::map<std::string, LoadStrategy> model_strategies;  // by name; others are lazy
  std::vector<std::string> backend_priority;             // NAME[:DEVICE]; empty: auto
  std::string backend_priority_origin;                   // where it was said: "--backend", "GOMLX_BACKEND"
  std::string device;                                    // of backends that name none
  std::string dtype;                                     // empty: as stored
  std::string gpu = "auto";
  std::string gpu_origin;
  std::string policy = "warn";
  std::chrono::nanoseconds keep_alive = std::chrono::minutes(5);    // 0: never unload
  std::chrono::nanoseconds max_keep_alive = std::chrono::hours(1);  // that a request may ask for
  std::optional<std::size_t> max_loaded_models;                     // 0: no limit; none: by the memory that is free
  std::optional<std::size_t> max_memory_mb;                         // of weights; the same
  std::size_t threads = 0;                                          // 0: one a core
  bool pin_threads = false;                                         // workers stay on a core each
  bool map_files = true;
  bool allow_downloads = false;
  bool offline = false;

  // Limits.
  std::size_t max_concurrent_requests = 512;                             // taken up at a time; more wait
  std::size_t max_queue_size = 1024;                                     // requests that wait; more are refused
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(120);  // 0: none
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(75);
  std::chrono::nanoseconds transfer_timeout = std::chrono::minutes(5);  // of a whole body, and of a whole answer
  std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(30);
  std::size_t max_body_mb = 32;
  std::size_t max_total_body_mb = 512;    // of all requests under way together
  std::size_t max_total_answer_mb = 512;  // of answers that their clients do not take at once
  std::size_t max_connections = 4096;
  std::size_t max_client_percent = 75;  // of what all may have together, for one client
  std::size_t max_inputs = 2048;        // texts of one request
  std::size_t batch_max_tokens = 2048;
  std::chrono::nanoseconds batch_max_wait{};
  std::chrono::nanoseconds cache_ttl = std::chrono::minutes(5);
  std::size_t cache_size = 0;  // results kept; 0: no cache

  // The log.
  base::LogLevel log_level = base::LogLevel::info;
  base::LogStyle log_style = base::LogStyle::terminal;
  bool quiet = false;
};

}  // namespace alate::server
