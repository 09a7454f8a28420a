#include "backends/onnxruntime/open_file.h"

#include <set>

#include "alate/error.h"
#include "backends/onnxruntime/compile_graph.h"
#include "backends/onnxruntime/optimized_models.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/session_ports.h"
#include "base/files/file_digests.h"
#include "base/hardware/cpu_facts.h"
#include "base/libraries/foreign_mappings.h"
#include "base/libraries/foreign_opening.h"
#include "base/log.h"
#include "exchange/onnx_file.h"

namespace alate::onnxruntime {
namespace {

namespace fs = std::filesystem;

Owned<abi::Session> session_of(const Library& library, const fs::path& file, const abi::SessionOptions* options) {
  const base::ForeignOpening opening;
  abi::Session* session = nullptr;
  library.check<abi::CreateSession>("opening " + file.string(), static_cast<const abi::Env*>(library.environment()),
                                    file.c_str(), options, &session);
  Owned<abi::Session> made = library.own<abi::ReleaseSession>(session);
  if (opening.has_lost_pages())
    throw make_error(ErrorCode::corrupt, file.string(), " or a file of its weights was truncated while it was opened; ",
                     "load the model again, and replace files by rename");
  return made;
}

// Errors without a specific code are faults of the file.
Owned<abi::Session> session_of_file(const Library& library, const fs::path& file, const abi::SessionOptions* options) {
  try {
    return session_of(library, file, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw Error(ErrorCode::corrupt, error.message());
    throw;
  }
}

// Optimized models are specific to the processor that they were made on.
Fingerprint key_of(const Library& library, const exchange::OnnxFiles& files, const backends::CompileOptions& options) {
  FingerprintBuilder key;
  key.add(library.version()).add(base::cpu_facts().brand);
  key.add(exchange::content_of(files, base::FileDigests(options.cache_folder / "digests")));
  for (const auto& [name, value] : options.session_options) key.add(name).add(value);
  return key.finish();
}

// Null where there is no entry, or the entry was invalid.
Owned<abi::Session> cached_session(const Library& library, OptimizedModels& models, const Fingerprint& key,
                                   const Place& place, const backends::CompileOptions& options) {
  Owned<abi::Session> none = library.own<abi::ReleaseSession>(static_cast<abi::Session*>(nullptr));
  const std::optional<fs::path> file = models.find(key);
  if (!file) return none;
  try {
    GivenOptions given = options.session_options;
    given["graph_optimization_level"] = "disabled";  // already optimized
    const OwnedSessionOptions prepared = make_session_options(library, threads_of(options), given);
    append_place(library, prepared.get(), place);
    return session_of(library, *file, prepared.get());
  } catch (const Error& error) {
    base::log(base::LogLevel::warn, "an optimized model of the cache cannot be opened and is made anew",
              {{"file", file->string()}, {"reason", error.message()}},
              "the optimized model " + file->string() + " cannot be opened, and is made anew: " + error.message());
    models.remove(key);
    return none;
  }
}

Owned<abi::Session> new_session(const Library& library, const exchange::OnnxFiles& files, OptimizedModels* models,
                                const Fingerprint& key, const Place& place, const backends::CompileOptions& options) {
  const auto prepared = [&] {
    OwnedSessionOptions made = make_session_options(library, threads_of(options), options.session_options);
    append_place(library, made.get(), place);
    return made;
  };
  if (models != nullptr) {
    try {
      OptimizedModels::Draft draft = models->begin(key);
      const OwnedSessionOptions writing = prepared();
      library.check<abi::SetOptimizedModelFilePath>("preparing onnx", writing.get(), draft.model().c_str());
      set_entry(library, writing.get(), "session.optimized_model_external_initializers_file_name",
                OptimizedModels::kWeights);
      Owned<abi::Session> session = session_of(library, files.model, writing.get());
      if (key_of(library, files, options) != key) throw Error(ErrorCode::corrupt, "it was changed while it was opened");
      draft.finish();
      return session;
    } catch (const Error& error) {
      // A full disk or a model that cannot be written: the session still runs.
      base::log(base::LogLevel::debug, "an optimized model is not kept",
                {{"file", files.model.string()}, {"reason", error.message()}});
    }
  }
  return session_of_file(library, files.model, prepared().get());
}

// The library maps large external weights. Collects the mappings by the weights' real folders, which in the hub's cache
// are not the model's.
base::ForeignMappings mapped_files(const exchange::OnnxFiles& files) {
  std::set<fs::path> folders = {files.model.has_parent_path() ? files.model.parent_path() : fs::path(".")};
  for (const std::string& name : files.external) {
    std::error_code missing;
    if (const fs::path real = fs::canonical(files.path_of(name), missing); !missing) folders.insert(real.parent_path());
  }
  base::ForeignMappings mapped;
  for (const fs::path& folder : folders) mapped.add(base::ForeignMappings(folder));
  return mapped;
}

}  // namespace

std::unique_ptr<OnnxExecutable> open_file(const backends::ModelFile& file, std::shared_ptr<const Library> library,
                                          const Place& place, const backends::CompileOptions& options) {
  std::error_code ignored;
  if (!fs::exists(file.path, ignored)) throw make_error(ErrorCode::not_found, "there is no file ", file.path.string());
  if (!fs::is_regular_file(file.path, ignored))
    throw make_error(ErrorCode::invalid_argument, file.path.string(), " is no file: give the .onnx file itself");
  // Checked before the library sees it: older libraries read weights from any file that the model names.
  const exchange::OnnxFiles files = exchange::check_onnx_file(file.path);
  const bool keeps = !options.cache_folder.empty() && place.is_processor();
  std::optional<OptimizedModels> models;
  Fingerprint key;
  Owned<abi::Session> session = library->own<abi::ReleaseSession>(static_cast<abi::Session*>(nullptr));
  if (keeps) {
    models.emplace(options.cache_folder / "onnx");
    key = key_of(*library, files, options);
    session = cached_session(*library, *models, key, place, options);
  }
  if (session == nullptr) session = new_session(*library, files, keeps ? &*models : nullptr, key, place, options);
  base::ForeignMappings mapped = mapped_files(files);
  if (keeps) mapped.add(base::ForeignMappings(options.cache_folder / "onnx" / to_string(key)));
  SessionParts parts = read_ports(*library, std::move(session));
  parts.weight_bytes = files.bytes;
  parts.files = std::move(mapped);
  return std::make_unique<OnnxExecutable>(std::move(library), std::move(parts));
}

}  // namespace alate::onnxruntime
