// Encoders in a file that a backend runs directly (ONNX).
#pragma once

#include <filesystem>
#include <memory>

#include "backends/backend.h"
#include "models/encoder.h"
#include "runtime/loading/entry_point.h"

namespace alate::runtime {

/// A file's executable and the roles of its ports. Immutable; thread-safe.
struct FileEncoder {
  std::shared_ptr<backends::Executable> executable;
  std::size_t hidden_output = 0;  // [batch, length, hidden] float32
  std::int64_t hidden_size = 0;
};

/// Finds the output that has a vector for each token. Throws unsupported, naming inputs or outputs, for a file that is
/// no encoder of tokens.
FileEncoder find_encoder(std::shared_ptr<backends::Executable> executable, const std::string& name,
                         const models::EncoderLimits& limits);

/// One input, the hidden states [tokens, hidden]: runs the file over padded rows. Throws unsupported for masks with
/// holes, corrupt for results of another shape.
std::unique_ptr<const Feeder> feed_hidden_states(FileEncoder encoder);

/// Runs the file on values given by the names of its inputs: `forward` for such models. Integers are accepted as i32 or
/// i64, whichever the file wants. Throws invalid_argument, naming the input, for one that is missing, unknown, or of a
/// wrong type or shape.
NamedTensors run_file(backends::Executable& executable, const NamedTensors& inputs,
                      const backends::RunOptions& options);

}  // namespace alate::runtime
