// Files in MODEL's place that are no model's: most often a text, where MODEL was left out.
#pragma once

#include <filesystem>
#include <string>

namespace alate::app {

/// What a verb reads of a model.
enum class ModelUse { weights, tokenizer, template_file };

/// Whether a file by itself may be what the verb reads, by the ending of its name: weights; a tokenizer's file, of .txt
/// files only one that is called a vocabulary; a template's file may have any name.
bool may_be_of_model(const std::filesystem::path& file, ModelUse use);

/// Throws invalid_argument, with what to do, for a file that cannot be of a model; `reference` is MODEL as it was
/// given.
void refuse_other_file(const std::filesystem::path& path, const std::string& reference, ModelUse use);

}  // namespace alate::app
