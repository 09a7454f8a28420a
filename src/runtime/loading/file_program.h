// Encoders that come as a file which a backend runs as it is (ONNX).
#pragma once

#include <filesystem>
#include <memory>

#include "backends/backend.h"
#include "models/encoder.h"
#include "runtime/loading/loaded_model.h"

namespace alate::runtime {

/// A file's executable and what its inputs and outputs are for. Immutable; thread-safe.
struct FileEncoder {
  std::shared_ptr<backends::Executable> executable;
  std::size_t hidden_output = 0;  // [batch, length, hidden] float32
  std::int64_t hidden_size = 0;
};

/// Finds among the outputs the one with a row of numbers for each token. Throws unsupported, naming inputs or outputs,
/// for a file that is no encoder of tokens.
FileEncoder find_encoder(std::shared_ptr<backends::Executable> executable, const std::string& name,
                         const models::EncoderLimits& limits);

/// The file over padded rows, then `head` (a graph over packed hidden states, compiled with the parameters of
/// `declare_encoder_inputs` and "last_hidden_state" [tokens, hidden] after them).
std::shared_ptr<const EncoderProgram> make_file_program(FileEncoder encoder, std::unique_ptr<backends::Executable> head,
                                                        const models::EncoderLimits& limits, Dim tokens);

/// The values by the names of the file's inputs, through the file: what `forward` is for such models. Integers are
/// taken as i32 or i64, whichever the file wants. Throws invalid_argument naming an input that is missing, not there,
/// or of another type or shape.
NamedTensors run_file(backends::Executable& executable, const NamedTensors& inputs,
                      const backends::RunOptions& options);

}  // namespace alate::runtime
