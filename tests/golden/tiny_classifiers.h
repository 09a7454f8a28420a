// The classifiers that tests/golden/record_classify.py recorded, as folders to load.
#pragma once

#include <filesystem>
#include <string>

#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

/// Writes the model `name` ("nli", "several") into `folder`.
inline void write_tiny_classifier(const std::filesystem::path& folder, const std::string& name = "nli") {
  write_tiny_model(golden_folder("classifiers/" + name), folder);
  std::filesystem::copy_file(source_folder() / "tests/golden/models/st_mean/tokenizer.json", folder / "tokenizer.json");
}

}  // namespace alate::tests
