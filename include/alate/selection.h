// The backend that a model runs on, and why it was selected, as a value that can be tested and printed.
#pragma once

#include <string>
#include <vector>

#include "alate/backend_choice.h"

namespace alate {

/// A device that was considered for a model, and the outcome.
struct ConsideredBackend {
  std::string backend;        // "onnx"
  std::string device;         // "cuda"; empty if the backend was rejected before its devices were considered
  std::string origin;         // who named it: "the options", "GOMLX_BACKEND", "the automatic order"
  std::string refusal = {};   // why it was rejected; empty: it can run the model
  std::string remedy = {};    // what would help
  bool is_automatic = false;  // it was not requested by name
};

struct Selection {
  std::string backend;                          // "cpu"
  std::string device;                           // name: "cpu", "cuda"
  std::string device_index;                     // as CompileOptions::device takes it
  std::string device_description;               // "AMD EPYC 9B14, avx512, 2 cores"
  std::string dtype;                            // compute type
  std::string reason;                           // one sentence
  std::vector<BackendPlace> required_backends;  // by the model's manifest; empty: any
  std::vector<ConsideredBackend> considered;    // in order; those after the chosen one are its fallbacks
};

/// The decision in one line: "Loading model M with backend B (model requires: […]) (fallback: onnx unavailable: …)".
std::string to_line(const Selection& selection, const std::string& model);

}  // namespace alate
