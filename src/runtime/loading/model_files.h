// The choice of a model's files to load.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/model.h"
#include "formats/weight_source.h"

namespace alate::runtime {

struct ModelFiles {
  std::filesystem::path home;               // the model's folder: manifest, modules.json and the modules' own folders
  std::filesystem::path folder;             // the transformer's: config, weights, tokenizer; most often `home`
  std::filesystem::path onnx_file;          // run directly; empty: weights come from other files
  std::filesystem::path weights_file = {};  // the weights, or the index of their parts; empty: those of `folder`

  /// For those who open the files; a loaded model's form (model_form.h) answers what follows from it.
  bool is_onnx() const { return !onnx_file.empty(); }
  /// Weights and configuration are those of `weights_file`.
  bool is_gguf() const;
  /// What tokenizer and chat template are loaded from: the folder, or the GGUF where the folder has no tokenizer of its
  /// own.
  std::filesystem::path tokenizer() const;
};

/// `path` is a model's folder, a file in one (ONNX, weights, the index of their parts, GGUF), or
/// "builtin:NAME[:VARIANT]";
/// `options.onnx_file` asks for an ONNX file inside the folder. Otherwise a folder with weights of its own
/// (formats::weight_formats) uses them, else its model.onnx or onnx/model.onnx, else its only GGUF. A modules.json may
/// have the transformer in a folder of its own: the first of transformer_folders. Throws not_found, invalid_argument
/// for a name outside the folder and for several GGUF files, corrupt for a modules.json that leads out of it or is no
/// list, unavailable where permissions hide it, and as refuse_other_weights.
ModelFiles find_model_files(const std::filesystem::path& path, const LoadOptions& options = {});

/// The folders of the transformers of the model in the folder `home`: one in all models but those with a Router whose
/// routes have their own (at most 64). The first is that of texts without a task, else of the first route. Throws
/// corrupt for a modules.json or a Router's file that leads out of the model or is no list.
std::vector<std::filesystem::path> transformer_folders(const std::filesystem::path& home);

/// The files of one of transformer_folders. Throws as find_model_files.
ModelFiles find_transformer_files(const std::filesystem::path& home, const std::filesystem::path& transformer,
                                  const LoadOptions& options = {});

/// The folder that module `path` of `home`'s modules.json has its files in, the same for "1_Pooling", "1_Pooling/" and
/// "./1_Pooling". Throws corrupt where that leads out.
std::filesystem::path module_folder(const std::filesystem::path& home, const std::string& path);

/// The weights, where they are not in an ONNX file. Those of a file must be regular files of the folder that it lies
/// in. Throws as formats::open_weights.
std::shared_ptr<const formats::WeightSource> open_weights(const ModelFiles& files,
                                                          base::MappedFile::Mode mode = base::MappedFile::Mode::map);

/// Throws unsupported, naming `purpose` ("a reranker"), for a model that is an ONNX file and has no weights to read.
void require_weights(const ModelFiles& files, std::string_view purpose);

/// Throws unsupported, naming `verb` ("quantize"), for a GGUF, whose weights another folder cannot have as they are.
void require_not_gguf(const ModelFiles& files, std::string_view verb);

/// Bytes of an ONNX file and of its external data: files beside it under its name.
std::uint64_t onnx_bytes(const std::filesystem::path& file);

}  // namespace alate::runtime
