// Where the repository is: tests read recorded goldens from it.
#pragma once

#include <filesystem>

namespace alate {

/// The repository's root on the machine that built the tests.
std::filesystem::path source_folder();

}  // namespace alate
