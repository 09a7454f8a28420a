// Recorded goldens: folders that golden_folder.py packed into one safetensors file each, and unpacked again for a test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/safetensors_writer.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {

inline std::filesystem::path golden_file(const std::string& name) {
  return source_folder() / "tests/golden" / (name + ".safetensors");
}

/// The goldens of a kind, "architectures", by their names in order.
inline std::vector<std::string> golden_names(const std::string& kind) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "tests/golden" / kind)) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// The texts in a golden by their paths in the folder, without unpacking it.
inline std::map<std::string, std::string> golden_texts(const std::string& name) {
  return formats::SafetensorsFile::open(golden_file(name))->metadata();
}

/// Writes the folder that was packed into `golden`: see golden_folder.py.
inline void unpack_golden(const formats::SafetensorsFile& golden, const std::filesystem::path& folder) {
  const auto write = [&](const std::string& relative, std::span<const std::byte> content) {
    const std::filesystem::path file = folder / relative;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  };
  for (const auto& [file, text] : golden.metadata()) {
    if (!file.ends_with(".safetensors")) write(file, std::as_bytes(std::span(text)));
  }
  constexpr std::string_view kInFile = ".safetensors/";
  std::map<std::string, std::vector<formats::NamedTensor>> files;
  for (const std::string_view name : golden.names()) {
    const std::size_t end = name.find(kInFile);
    if (end == std::string_view::npos) {
      write(std::string(name), golden.tensor(name).bytes());
    } else {
      files[std::string(name.substr(0, end + kInFile.size() - 1))].push_back(
          {std::string(name.substr(end + kInFile.size())), golden.tensor(name)});
    }
  }
  for (const auto& [file, tensors] : files) {
    std::map<std::string, std::string> metadata;
    if (const auto found = golden.metadata().find(file); found != golden.metadata().end()) {
      const formats::Json members = formats::parse_json(found->second, file);
      for (const auto& [key, value] : members.as_object(file)) metadata.emplace(key, value.as_string(key));
    }
    write(file, formats::safetensors_bytes(tensors, metadata));
  }
}

/// The folder of a golden, "architectures/bert_base", which the first call in a process unpacks and the end of the
/// process removes. Tests must not change it. Thread-safe.
inline std::filesystem::path golden_folder(const std::string& name) {
  static const base::TemporaryFolder unpacked;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::filesystem::path folder = unpacked.path() / name;
  if (!std::filesystem::exists(folder)) {
    const std::filesystem::path part = unpacked.path() / "part";
    std::filesystem::remove_all(part);
    unpack_golden(*formats::SafetensorsFile::open(golden_file(name)), part);
    std::filesystem::create_directories(folder.parent_path());
    std::filesystem::rename(part, folder);
  }
  return folder;
}

}  // namespace alate::tests
