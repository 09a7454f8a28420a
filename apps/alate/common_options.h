// The options that every verb has, and what they mean for loading models and writing results.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/model.h"
#include "arguments.h"
#include "base/log.h"
#include "configuration.h"
#include "output.h"

namespace alate::app {

enum class OutputFormat { text, json, jsonl, csv, npy, safetensors, markdown };

using Policy = BackendPolicy;

struct CommonOptions {
  std::vector<std::string> backends;  // NAME[:DEVICE], first choice first; empty: auto
  std::string backends_asked_by;      // where they come from: "--backend", "GOMLX_BACKEND"
  std::string device;                 // of backends that name none
  std::string gpu = "auto";           // auto, cuda, coreml, tpu or off
  std::string gpu_asked_by;
  Policy policy = Policy::warn;
  std::string dtype;
  std::size_t threads = 0;  // 0: one per usable core
  bool pin_threads = false;
  std::optional<std::size_t> max_length;
  std::size_t batch_size = 0;
  std::optional<OutputFormat> output;
  std::string out;  // a file; empty: standard output
  bool quiet = false;
  base::LogLevel log_level = base::LogLevel::warn;
  base::LogStyle log_style = base::LogStyle::terminal;
  std::string models_dir;
  bool offline = false;
  bool no_mmap = false;
  std::string dump_graph;  // a folder; empty: graphs are not written
  std::shared_ptr<Configuration> configuration = std::make_shared<Configuration>();  // --config
};

/// Adds them to the verb's arguments, as the last group of its help. What is not given is taken from the configuration
/// file, and from other systems' variables.
void declare(Arguments& arguments, CommonOptions& options);

/// Sets up log and thread pool: once, before anything else is done.
void apply(const CommonOptions& options);

/// Throws invalid_argument for what is no policy.
Policy parse_policy(std::string_view name);

/// --output, else what the extension of --out names, else text.
/// Throws invalid_argument when the verb does not write it, or when it would be bytes on a terminal.
OutputFormat output_format(const CommonOptions& options, std::initializer_list<OutputFormat> written);

/// Throws unsupported for a dtype that this build does not compute in.
void check_dtype(const CommonOptions& options);

/// Throws unsupported for a dtype that this build lacks.
LoadOptions load_options(const CommonOptions& options);

/// The model's folder or file. Throws as hub::resolve_model.
std::filesystem::path find_model(const CommonOptions& options, const std::string& reference);

/// The name of a model that is given by its path in the models directory; other references as they are.
std::string shortest_reference(const CommonOptions& options, const std::string& reference);

}  // namespace alate::app
