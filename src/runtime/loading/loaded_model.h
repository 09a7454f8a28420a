// The implementation of Model: its files, and the programs compiled from them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/model.h"
#include "backends/backend.h"
#include "base/threads/mutex.h"
#include "folders/manifest.h"
#include "formats/json.h"
#include "graph/program/program.h"
#include "machine/selection.h"
#include "models/encoder.h"
#include "runtime/batching/batch_parts.h"
#include "runtime/batching/packing.h"
#include "runtime/batching/rounding.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/head_program.h"
#include "runtime/loading/load_request.h"
#include "runtime/loading/load_watch.h"
#include "runtime/loading/model_content.h"
#include "runtime/loading/model_form.h"
#include "runtime/loading/step_program.h"

namespace alate::runtime {

/// The last part of a model's path, for messages; of a folder in huggingface_hub's cache the name on the hub.
std::string shown_name(const std::filesystem::path& folder);

/// An error of a backend while it compiled: another backend may succeed.
class BackendFailure : public Error {
 public:
  explicit BackendFailure(const Error& error) : Error(error) {}
};

}  // namespace alate::runtime

namespace alate {

/// Once loaded, immutable except for entry points, which are compiled at their first use.
struct Model::State {
  using Prepare = std::function<void(const State&)>;
  enum class Purpose { load, check };

  /// Reads everything that does not depend on a backend: settings, manifest, the headers of the weights. `watch` must
  /// live until bind_to_backend returns. Throws as Model::load, and for files that are missing, broken or of an unknown
  /// architecture.
  static std::shared_ptr<State> read(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                     runtime::LoadWatch& watch);
  /// Chooses a backend and lets `prepare` compile what the caller needs on it; where the backend is the cause of a
  /// failure, tries the next one. `supported` has the backends that may run the model, besides which the manifest's
  /// own list must allow them; empty: any. A check is not logged as a load. Throws as Model::load. Call once.
  void bind_to_backend(const Prepare& prepare, const std::vector<BackendPlace>& supported = {},
                       Purpose purpose = Purpose::load);
  /// Both.
  static std::shared_ptr<State> load(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                     runtime::LoadWatch& watch, const Prepare& prepare,
                                     const std::vector<BackendPlace>& supported = {});

  std::string name;  // the last part of the path that it was loaded from
  std::filesystem::path folder;
  std::filesystem::path weights_file;  // as of ModelFiles
  LoadOptions options;
  machine::ChoiceOrigin origin;         // of the choices in `options`
  std::uint64_t most_cache_bytes = 0;   // as in LoadRequest
  runtime::LoadWatch* watch = nullptr;  // while it is loaded, by one thread; what is compiled later is not watched
  formats::Json config;
  std::unique_ptr<const runtime::ModelForm> form;
  std::shared_ptr<backends::WeightStore> store;
  backends::Backend* backend = nullptr;
  folders::Manifest manifest;
  std::unique_ptr<const runtime::ModelContent> content;
  backends::SessionOptions session_options;  // from the manifest, for the backend
  std::unique_ptr<graph::GraphDump> dump;    // where the options name a dump folder
  ModelFacts facts;

  /// The entry point of this name and the request's adapter: the encoder with the outputs that the head adds, compiled
  /// at the name's first use. Whoever asks for a name passes the same request, but for the adapter. Weights are shared
  /// by all entry points. Throws runtime::BackendFailure where the backend cannot compile it.
  std::shared_ptr<const runtime::EntryPoint> entry_point(std::string_view entry,
                                                         const runtime::GraphRequest& request) const;
  std::shared_ptr<const runtime::EntryPoint> entry_point(std::string_view entry, const runtime::Head& head,
                                                         models::HeadChoice choice) const {
    return entry_point(entry, runtime::GraphRequest{.head = head, .choice = choice});
  }
  /// The folder's head over rows of hidden states, with the outputs that `head` adds; compiled and named as
  /// `entry_point`. Throws as it.
  std::shared_ptr<const runtime::HeadProgram> head_program(std::string_view entry, const runtime::Head& head) const;
  /// The entry point "step", compiled at its first use. Throws as models::build_step and `entry_point`.
  std::shared_ptr<const runtime::StepProgram> step_program() const;
  /// The program of this name, made by `make` unless it is still in use: rows of one program share batches.
  std::shared_ptr<const runtime::BatchProgram> shared_program(
      const std::string& entry, const std::function<std::shared_ptr<const runtime::BatchProgram>()>& make) const;
  /// Does all that `entry_point` does except compiling, and throws as it: builds the graph, which needs every weight in
  /// its shape, and compares the memory it takes with what is free. A file that a runtime executes is opened: only that
  /// runtime can say whether it runs.
  void check(const runtime::Head& head, models::HeadChoice choice) const;
  /// The same for `step_program`.
  void check_step() const;
  /// The options that every graph of the model is compiled with.
  backends::CompileOptions compile_options() const;
  /// A file's executable on the backend, opened at its first use; of a form that has one. Throws
  /// runtime::BackendFailure as `entry_point`.
  std::shared_ptr<backends::Executable> open_file(const std::filesystem::path& path) const;
  /// As Model::fingerprint.
  Fingerprint fingerprint() const;
  /// Whether rows of `Model::forward` may be the choices of questions (models::EncoderHead::takes_choices).
  bool takes_choices() const {
    const models::Architecture* known = form->architecture();
    return known != nullptr && models::find_head(*known, config).takes_choices;
  }
  const models::EncoderLimits& limits() const { return form->limits(); }
  /// Compiles all that `Model::forward` needs.
  void prepare_forward() const { form->prepare_forward(*this); }
  /// The entry point "forward", with the outputs of the folder's head; hidden states of a file that a runtime executes,
  /// for which `Model::forward` does not use it.
  const runtime::EntryPoint& forward_entry_point() const;
  /// The same for rows whose places are given.
  const runtime::EntryPoint& forward_by_place_entry_point() const;

  // A program is compiled with its mutex held, and opens `file` meanwhile; the mutexes are never locked in the other
  // order.
  template <typename Program>
  struct Named {
    base::Mutex mutex;
    std::shared_ptr<const Program> made;
  };
  template <typename Program>
  using ByName = std::map<std::string, std::shared_ptr<Named<Program>>, std::less<>>;
  mutable base::Mutex file_mutex, entry_points_mutex;
  mutable std::shared_ptr<backends::Executable> file;
  mutable ByName<runtime::EntryPoint> entry_points;
  mutable ByName<runtime::HeadProgram> head_programs;
  mutable Named<runtime::StepProgram> step;
  mutable base::Mutex shared_programs_mutex;
  mutable std::map<std::string, std::weak_ptr<const runtime::BatchProgram>> shared_programs;

 private:
  base::Cancellation cancellation() const {
    return watch == nullptr ? base::Cancellation::never() : watch->cancellation();
  }
  template <typename Program>
  std::shared_ptr<Named<Program>> find_or_add(ByName<Program>& programs, std::string_view wanted) const;
  std::shared_ptr<const runtime::EntryPoint> compile(const runtime::GraphRequest& request) const;
  std::unique_ptr<backends::Executable> compile_program(const graph::Program& program,
                                                        const std::function<void()>& check) const;
};

namespace runtime {

/// Model::load.
Model load_model(const std::filesystem::path& folder, const LoadRequest& request, const RunControl& control = {});

}  // namespace runtime

}  // namespace alate
