#include "common_options.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "alate/error.h"
#include "alate/find_model.h"
#include "alate/threads.h"
#include "backends/registry.h"
#include "base/files/descriptor_io.h"
#include "base/os/environment.h"
#include "models/weights/weight_settings.h"
#include "server/settings/settings_loading.h"
#include "unknown_variables.h"

namespace alate::app {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 7> kFormats = {{
    {"text", OutputFormat::text},
    {"json", OutputFormat::json},
    {"jsonl", OutputFormat::jsonl},
    {"csv", OutputFormat::csv},
    {"npy", OutputFormat::npy},
    {"safetensors", OutputFormat::safetensors},
    {"markdown", OutputFormat::markdown},
}};

}  // namespace

std::string_view to_string(OutputFormat format) { return kFormats.at(static_cast<std::size_t>(format)).first; }

namespace {

std::vector<std::string> texts_of(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

OutputFormat format_named(std::string_view name) {
  std::string names;
  for (const auto& [known, format] : kFormats) {
    if (known == (name == "table" ? "text" : name)) return format;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  throw make_error(ErrorCode::invalid_argument, "is one of ", names);
}

bool is_binary(OutputFormat format) { return format == OutputFormat::npy || format == OutputFormat::safetensors; }

// How the names of files of a format end; the first of each is the one to recommend.
constexpr std::array<std::pair<std::string_view, OutputFormat>, 9> kEndings = {{
    {".txt", OutputFormat::text},
    {".json", OutputFormat::json},
    {".jsonl", OutputFormat::jsonl},
    {".ndjson", OutputFormat::jsonl},
    {".csv", OutputFormat::csv},
    {".npy", OutputFormat::npy},
    {".safetensors", OutputFormat::safetensors},
    {".md", OutputFormat::markdown},
    {".markdown", OutputFormat::markdown},
}};

// The end of a file's name in lower case; empty where it cannot name a format: for standard output and devices.
std::string ending_of(const std::filesystem::path& out) {
  if (is_standard_output(out) || is_written_in_place(out)) return {};
  std::string ending = out.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

// Refuses a file whose name says something else than what would be in it: the mistake would show much later.
OutputFormat format_of(const CommonOptions& options, std::initializer_list<OutputFormat> written) {
  const std::string ending = ending_of(options.out);
  const auto known = std::ranges::find(kEndings, ending, &std::pair<std::string_view, OutputFormat>::first);
  if (options.output) {
    const OutputFormat format = *options.output;
    const bool agrees = known == kEndings.end() || known->second == format ||
                        (known->second == OutputFormat::text && !is_binary(format));
    if (agrees) return format;
    throw make_error(ErrorCode::invalid_argument, "--out ", options.out, " ends like a file of ",
                     to_string(known->second), ", but --output (or ALATE_OUTPUT, or the configuration) asks for ",
                     to_string(format), "; change one of them");
  }
  if (ending.empty()) return OutputFormat::text;
  if (known != kEndings.end()) return known->second;
  std::string endings;
  for (const OutputFormat each : written) {
    const auto usual = std::ranges::find(kEndings, each, &std::pair<std::string_view, OutputFormat>::second);
    endings += (endings.empty() ? "" : ", ") + std::string(usual->first);
  }
  throw make_error(ErrorCode::invalid_argument, "--out ", options.out, ": no format has files that end in ", ending,
                   "; this command writes ", endings, ", or name the format with --output");
}

std::string backends_listed() {
  std::string list;
  for (const std::string& name : backend_names()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

constexpr std::string_view kOfflineSentence = "never use the network";

using Uses = std::function<bool(Shared)>;

void declare_models(Arguments& arguments, CommonOptions& options, const Uses& uses) {
  if (uses(Shared::models))
    arguments.option("--models-dir", "DIR", "where models are looked up by name", options.models_dir);
  if (uses(Shared::models)) arguments.flag("--offline", kOfflineSentence, options.offline);
  if (!uses(Shared::loading)) return;
  arguments.flag("--no-mmap", "read files into memory instead of mapping them", options.no_mmap);
  arguments.option("--dump-graph", "DIR", "write the model's graph there after each pass: NN_PASS.txt",
                   options.dump_graph);
}

void declare_backends(Arguments& arguments, CommonOptions& options, const Uses& uses) {
  const bool computes = uses(Shared::backends);
  if (computes || uses(Shared::backend_names)) {
    arguments.list("--backend", "NAME[:DEVICE]",
                   backends_listed() + ": where to compute; repeated: in order of priority", options.backends);
    arguments.choices(backend_names);
  }
  if (computes || uses(Shared::devices)) {
    arguments.option("--device", "DEVICE", "the device of a backend that names none", options.device);
    arguments.one_of("--gpu", "WHICH", "devices of this kind first; off: none", texts_of(accelerator_kind_names()),
                     [&](std::string_view which) { options.gpu = parse_accelerator_kind(which).value(); });
  }
  if (computes) {
    arguments.one_of("--policy", "POLICY", "when that backend is not here", texts_of(backend_policy_names()),
                     [&](std::string_view name) { options.policy = parse_backend_policy(name).value(); });
  }
}

void declare_computing(Arguments& arguments, CommonOptions& options, const Uses& uses) {
  declare_backends(arguments, options, uses);
  if (uses(Shared::dtype)) {
    arguments.option("--dtype", "TYPE",
                     "compute in this type: float32, bfloat16, float16, int8, auto; or round "
                     "weights to q8_0, q5_1, q5_0, q4_1, q4_0",
                     options.dtype);
    arguments.choices({"float32", "bfloat16", "float16", "int8", "auto", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"});
    arguments.one_of("--activations", "TYPE",
                     "the inputs of products with quantized blocks, as a GGUF has: rounded to 8 bits, "
                     "or not",
                     {"int8", "float"},
                     [&](std::string_view name) { options.activations = parse_block_activations(name).value(); });
  }
  if (uses(Shared::cache_type)) {
    arguments.one_of("--cache-type", "TYPE",
                     "the numbers of keys and values that are kept of earlier tokens; f32 unless given, and f16 and "
                     "bf16 take half of its memory, q8 a quarter",
                     {"f32", "f16", "bf16", "q8"}, [&](std::string_view name) {
                       options.cache_type = name == "q8" ? DType::i8 : parse_dtype(name).value();
                     });
  }
  if (uses(Shared::threads)) {
    arguments.option("--threads", "N", "0 (the default): one for each usable core", options.threads);
    arguments.flag("--pin-threads", "keep each worker thread on a core of its own", options.pin_threads);
  }
  if (uses(Shared::max_length))
    arguments.option("--max-length", "TOKENS", "cut longer texts, special tokens included", options.max_length);
  if (uses(Shared::batch_size))
    arguments.option("--batch-size", "TEXTS", "most texts in one batch", options.batch_size);
}

void declare_output(Arguments& arguments, CommonOptions& options, std::initializer_list<OutputFormat> formats) {
  if (formats.size() > 1) {
    std::vector<std::string> names;
    std::string sentence;
    for (const OutputFormat format : formats) {
      names.emplace_back(to_string(format));
      sentence += (sentence.empty() ? "" : ", ") + names.back() + (format == OutputFormat::text ? " (or table)" : "");
    }
    // Formats of other verbs are refused with those of this one: output_format, which knows --out too.
    arguments.option("--output", "FORMAT", sentence,
                     [&](std::string_view name) { options.output = format_named(name); });
    arguments.choices([&] { return names; });
  }
  const std::string_view sentence = formats.size() > 1
                                        ? "write the result there; without --output, its ending names the format"
                                        : "write the result there";
  arguments.option("--out,-o", "FILE", sentence, options.out);
}

void declare_messages(Arguments& arguments, CommonOptions& options, const Uses& uses) {
  if (uses(Shared::offline)) arguments.flag("--offline", kOfflineSentence, options.offline);
  arguments.option("--config", "FILE", "read settings there; see docs/configuration.md",
                   [configuration = options.configuration](std::string_view path) { configuration->choose(path); });
  arguments.flag("--quiet", "no warnings", options.quiet);
  arguments.one_of("--log-level", "LEVEL", "the least messages that are shown",
                   {"trace", "debug", "info", "warn", "error", "off"},
                   [&](std::string_view name) { options.log_level = base::parse_log_level(name).value(); });
  arguments.one_of("--log-style", "STYLE", "", {"terminal", "json", "logfmt", "noop"},
                   [&](std::string_view name) { options.log_style = base::parse_log_style(name).value(); });
}

}  // namespace

void declare(Arguments& arguments, CommonOptions& options, std::initializer_list<Shared> used,
             std::initializer_list<OutputFormat> formats) {
  const auto uses = [&](Shared shared) { return std::ranges::find(used, shared) != used.end(); };
  arguments.fall_back_on([&options, configuration = options.configuration](std::string_view option) {
    auto found = configuration->value_of(option);
    if (found && option == "--backend") options.backends_asked_by = found->origin;
    if (found && option == "--gpu") options.gpu_asked_by = found->origin;
    return found;
  });
  arguments.group("Model");
  declare_models(arguments, options, uses);
  arguments.group("Computing");
  declare_computing(arguments, options, uses);
  arguments.group("Output");
  declare_output(arguments, options, formats);
  arguments.group("Settings and messages");
  declare_messages(arguments, options, uses);
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names = {"auto"};
  for (const backends::Registration& row : backends::registrations()) names.emplace_back(row.name);
  return names;
}

void apply(const CommonOptions& options) {
  base::configure_log(options.quiet ? std::max(options.log_level, base::LogLevel::error) : options.log_level,
                      options.log_style);
  for (const std::string& warning : options.configuration->unknown_keys())
    base::log(base::LogLevel::warn, "unknown key in the configuration", {{"what", warning}}, warning);
  warn_of_unknown_variables();
  try {
    configure_threads({.threads = options.threads, .pin = options.pin_threads});
  } catch (const Error& error) {
    throw error.with_context("--threads");
  }
}

OutputFormat output_format(const CommonOptions& options, std::initializer_list<OutputFormat> written) {
  const OutputFormat format = format_of(options, written);
  if (std::find(written.begin(), written.end(), format) == written.end()) {
    std::string names;
    for (const OutputFormat each : written) names += (names.empty() ? "" : ", ") + std::string(to_string(each));
    throw make_error(ErrorCode::invalid_argument, "this command does not write ", to_string(format),
                     "; choose --output of ", names);
  }
  if (is_binary(format) && is_standard_output(options.out) && base::is_terminal(base::kStandardOutput))
    throw make_error(ErrorCode::invalid_argument, to_string(format), " is not for a terminal; name a file with --out");
  return format;
}

void check_dtype(const CommonOptions& options) { models::require_compute_type(options.dtype); }

runtime::LoadRequest load_request(const CommonOptions& options) {
  LoadOptions load{.threads = options.threads, .map_files = !options.no_mmap};
  load.backend = {.places = BackendPlace::parse_all(options.backends),
                  .device = options.device,
                  .accelerators = options.gpu,
                  .policy = options.policy};
  load.dtype = models::require_compute_type(options.dtype);
  load.activations = options.activations.value_or(BlockActivations::int8);
  load.cache_type = options.cache_type;
  load.dump_graphs = options.dump_graph;
  return {std::move(load),
          {.places = options.backends_asked_by.empty() ? "--backend" : options.backends_asked_by,
           .places_are_wish = server::is_foreign_variable(options.backends_asked_by),
           .accelerators_are_wish = server::is_foreign_variable(options.gpu_asked_by)}};
}

std::filesystem::path find_model(const CommonOptions& options, const std::string& reference, ModelUse use) {
  // Without an installed header: the program's own models are beside it.
  std::filesystem::path path = alate::find_model(reference, {.models_dir = options.models_dir, .installed_header = ""});
  refuse_other_file(path, reference, use);
  return path;
}

std::filesystem::path models_directory(const CommonOptions& options) {
  return options.models_dir.empty() ? base::cache_directory() / "models" : std::filesystem::path(options.models_dir);
}

std::string shortest_reference(const CommonOptions& options, const std::string& reference) {
  try {
    const std::string name = std::filesystem::path(reference).lexically_relative(models_directory(options)).string();
    return name.empty() || name.starts_with('.') ? reference : name;
  } catch (const Error&) {
    return reference;  // there is no models directory
  }
}

}  // namespace alate::app
