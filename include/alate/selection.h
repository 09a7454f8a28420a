// What a model runs on, and why: a value that can be tested, printed and trusted.
#pragma once

#include <string>
#include <vector>

namespace alate {

/// What to do when the backend that is asked for cannot be had.
enum class BackendPolicy {
  strict,  // fail: nothing runs on what was not asked for
  warn,    // use the next one, and say so
  allow,   // use the next one
};

/// A device that was looked at for a model, and what came of it.
struct ConsideredBackend {
  std::string backend;        // "onnx"
  std::string device;         // "cuda"; empty where it did not come to devices
  std::string asked_by;       // "--backend", "GOMLX_BACKEND", "the automatic order"
  std::string refusal = {};   // why not; empty: it can run the model
  std::string remedy = {};    // what would help
  bool is_automatic = false;  // nobody asked for it by name
};

struct Selection {
  std::string backend;                         // "cpu"
  std::string device;                          // its name: "cpu", "cuda"
  std::string device_index;                    // as CompileOptions::device takes it
  std::string device_description;              // "AMD EPYC 9B14, avx512, 2 cores"
  std::string dtype;                           // that the model computes in
  std::string reason;                          // one sentence
  std::vector<std::string> required_backends;  // by the model's manifest; empty: any
  std::vector<ConsideredBackend> considered;   // in order; what comes after the chosen one is fallen back on
};

/// The decision in one line: "Loading model M with backend B (model requires: […]) (fallback: onnx unavailable: …)".
std::string to_line(const Selection& selection, const std::string& model);

}  // namespace alate
