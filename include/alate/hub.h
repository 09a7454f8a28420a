// Models from a hub: fetched into the cache that huggingface_hub uses, so that nothing is fetched twice.
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

/// As it stands: as the environment says.
struct PullOptions {
  /// The files to take in place of those that a run needs: patterns with *, ? and [...]; * includes /.
  std::vector<std::string> include = {};
  std::vector<std::string> exclude = {};
  bool all = false;      // every file of the model
  bool dry_run = false;  // only say what would be fetched

  std::filesystem::path cache = {};  // empty: HF_HUB_CACHE, HF_HOME/hub or ~/.cache/huggingface/hub
  std::string endpoint = {};         // empty: HF_ENDPOINT, or https://huggingface.co
  /// Sent to the endpoint only, and in no message. Absent: HF_TOKEN, or the file token in HF_HOME.
  std::optional<std::string> token = {};
  std::optional<bool> offline = {};  // absent: HF_HUB_OFFLINE

  std::chrono::milliseconds timeout{30000};     // without progress
  std::chrono::milliseconds retry_delay{1000};  // before the first retry; it doubles
  std::size_t connections = 4;                  // to one large file
  std::uint64_t max_bytes = 0;                  // of the files to take, together; 0: any number
  std::stop_token stop = {};                    // the call then throws cancelled; what was fetched is kept
  /// Called now and then, from any thread, one at a time. What it throws ends the call.
  std::function<void(const PullProgress&)> progress = {};
};

struct PulledFile {
  std::string name;
  std::uint64_t bytes = 0;
  bool was_there = false;  // in the cache already
};

struct PulledModel {
  std::string id;        // "owner/name"
  std::string revision;  // "main"
  std::string commit;
  std::filesystem::path folder;  // of the files, in the cache
  std::vector<PulledFile> files;
  std::uint64_t fetched_bytes = 0;  // with dry_run: that would be fetched
};

/// Fetches the files of a model that a run needs: "hf:owner/name[@revision][:variant]", also without hf:, or an address
/// of the model on the hub. Weights are safetensors if there are some, else pytorch_model.bin, ONNX or GGUF; a variant
/// is in a file's name ("int8" for model.int8.safetensors and onnx/model_int8.onnx, "q4_k_m") or a format ("onnx").
///
/// Files are written beside their places, checked against the hub's digests, and renamed; the branch is recorded when
/// all are there. An interrupted call is continued by the next one. Processes that fetch the same file wait for each
/// other, those of huggingface_hub included.
///
/// Throws not_found for a model, revision or variant that is not there; unauthenticated for a gated or private one;
/// resource_exhausted for too little room on the disk and for more than max_bytes; corrupt for files that are not what
/// the hub states, and for names that no folder should have; unavailable and deadline_exceeded for the network after
/// retries, and offline; invalid_argument; cancelled.
PulledModel pull_model(std::string_view reference, const PullOptions& options = {});

}  // namespace alate
