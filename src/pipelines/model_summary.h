// What a model's files say about it, for listings; nothing is loaded.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pipelines/tasks/tasks.h"

namespace alate::pipelines {

struct FolderFile {
  std::string name;  // relative to the folder, with /
  std::size_t bytes = 0;
  std::filesystem::file_time_type modified;
};

/// All files of a model's folder, sorted by name, except those with a part of the name that begins with a dot; at most
/// 10,000. Links to files are followed, links to folders are not. Empty for a folder that cannot be read.
std::vector<FolderFile> files_of_model(const std::filesystem::path& folder);

struct ModelSummary {
  std::size_t bytes = 0;  // of the folder's files
  std::chrono::system_clock::time_point modified{};
  std::string architecture;  // config.json's model_type; empty if unreadable
  std::vector<Task> tasks;   // the main one first; empty if unknown
  // The manifest's; else "generator" of a language model without pooling, or the main task's;
  // empty where nothing here runs such a model.
  std::string type;
  std::string format = "safetensors";  // of the files that are loaded; or "gguf", "onnx"
  std::string dtype;                   // of the stored weights, "F32"; empty if unknown
  std::size_t parameters = 0;          // number of weights; 0 if unknown
  std::size_t dimensions = 0;          // config.json's hidden size; 0 if unknown
  std::size_t max_length = 0;          // tokens of a row that the loaded model reads; 0 if unknown
};

/// `model` is a folder, or the file of a variant; `files` are its folder's. Reads config.json and the headers of the
/// weights. Never throws for faulty files: fields that they do not provide stay empty, and loading reports the error.
ModelSummary summarize_model(const std::filesystem::path& model, std::span<const FolderFile> files);

}  // namespace alate::pipelines
