// Files that hold something else than their names say, as downloads that went wrong leave them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace alate::base {

/// Call with a file's bytes before they are parsed. Throws corrupt for a Git LFS pointer, an HTML page or a hub's error
/// message in the file's place, and unsupported for a GGUF file whose name does not end in .gguf; each with what to do.
/// Looks at the first bytes only.
void require_own_content(std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace alate::base
