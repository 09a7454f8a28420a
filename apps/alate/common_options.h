// Options shared by verbs, and their effect on loading models and writing results.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/backend_choice.h"
#include "arguments.h"
#include "base/log.h"
#include "configuration.h"
#include "model_file.h"
#include "output.h"
#include "runtime/loading/load_request.h"

namespace alate::app {

enum class OutputFormat { text, json, jsonl, csv, npy, safetensors, markdown };
/// "jsonl".
std::string_view to_string(OutputFormat format);

struct CommonOptions {
  std::vector<std::string> backends;  // NAME[:DEVICE], first choice first; empty: auto
  std::string backends_asked_by;      // where they were set: "--backend", "GOMLX_BACKEND"
  std::string device;                 // for backends listed without one
  AcceleratorKind gpu = AcceleratorKind::automatic;
  std::string gpu_asked_by;
  BackendPolicy policy = BackendPolicy::warn;
  std::string dtype;                            // as parse_compute_type takes it
  std::optional<BlockActivations> activations;  // none: int8, but forward computes with floats
  DType cache_type = DType::f32;
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
  std::string dump_graph;  // a folder; empty: graphs are not dumped
  std::shared_ptr<Configuration> configuration = std::make_shared<Configuration>();  // --config
};

/// Shared options that a verb may use.
enum class Shared {
  models,         // --models-dir, --offline
  offline,        // --offline, of verbs without models
  backends,       // --backend, --device, --gpu, --policy
  backend_names,  // --backend, of verbs that run nothing on them
  devices,        // --device, --gpu, of verbs with their own list of backends
  dtype,          // --dtype, --activations
  cache_type,     // --cache-type
  threads,        // --threads, --pin-threads
  loading,        // --no-mmap, --dump-graph
  max_length,     // --max-length
  batch_size,     // --batch-size
};

/// Declares the shared options that the verb uses, as the last groups of its help; others are refused. Every verb has
/// --out, --config and the log's options, and --output if it writes several formats. Options not given fall back on the
/// configuration file, then on other systems' variables.
void declare(Arguments& arguments, CommonOptions& options, std::initializer_list<Shared> used,
             std::initializer_list<OutputFormat> formats);

/// Sets up logging and the thread pool, and warns of variables that nothing reads. Call once, before anything else.
void apply(const CommonOptions& options);

/// The names that --backend takes, for completion.
std::vector<std::string> backend_names();

/// --output, else the format that the ending of --out's name stands for, else text.
/// Throws invalid_argument if the verb does not support it, if the ending stands for another or for none, or if it
/// would write binary data to a terminal.
OutputFormat output_format(const CommonOptions& options, std::initializer_list<OutputFormat> written);

/// Throws unsupported for a dtype in which this build cannot compute.
void check_dtype(const CommonOptions& options);

/// Throws unsupported for a dtype that this build lacks.
runtime::LoadRequest load_request(const CommonOptions& options);

/// Path of the model's folder or file. Throws as alate::find_model, and as refuse_other_file.
std::filesystem::path find_model(const CommonOptions& options, const std::string& reference,
                                 ModelUse use = ModelUse::weights);

/// --models-dir, else models in the cache folder. Throws not_found where no variable says where that is.
std::filesystem::path models_directory(const CommonOptions& options);

/// The name of a model given by its path in the models directory; other references unchanged.
std::string shortest_reference(const CommonOptions& options, const std::string& reference);

}  // namespace alate::app
