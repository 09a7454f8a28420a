// Web addresses given where a model's name or path belongs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace alate::folders {

/// The model in an address of the Hugging Face hub: "owner/name", or "name" for the oldest models. Accepts the page of
/// the model and of any file in it (/tree/, /blob/, /resolve/), with or without https://; nothing for other addresses,
/// data sets and spaces.
std::optional<std::string> hub_model_of(std::string_view address);

/// Throws invalid_argument where `reference` is a web address, with the name to use and the command that fetches the
/// model into the models directory; does nothing for other references.
void refuse_address(std::string_view reference, const std::filesystem::path& models_directory);

}  // namespace alate::folders
