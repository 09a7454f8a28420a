#include "exchange/onnx_file.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"

namespace alate::exchange {
namespace {

namespace fs = std::filesystem;

// The file's size. Error messages reveal no names outside the model's folder.
std::uint64_t size_of(const fs::path& file, const std::string& name, const base::ContainedFiles& files) {
  if (!base::is_there(file))
    throw make_error(ErrorCode::not_found, "its weights are in ", formats::quoted_name(name),
                     ", and there is no such file beside it; download it too");
  return base::MappedFile::open(file, base::MappedFile::Mode::map, &files)->bytes().size();
}

void require_bytes(const ExternalTensor& tensor, std::uint64_t size) {
  const std::uint64_t wanted = tensor.length.value_or(tensor.bytes.value_or(0));
  if (tensor.offset <= size && wanted <= size - tensor.offset) return;
  throw make_error(ErrorCode::corrupt, "tensor ", formats::quoted_name(tensor.name), " is in bytes ", tensor.offset,
                   " to ", tensor.offset + wanted, " of ", formats::quoted_name(tensor.location), ", which has ", size,
                   " bytes; is the file whole?");
}

OnnxFiles checked(const fs::path& model) {
  OnnxFiles files{.model = model, .external = {}, .bytes = 0};
  const auto opened = base::MappedFile::open(model);
  files.bytes = opened->bytes().size();
  std::map<std::string, std::uint64_t, std::less<>> sizes;
  const base::ContainedFiles contained(model.parent_path());
  for (const ExternalTensor& tensor : external_tensors(opened->bytes())) {
    auto known = sizes.find(tensor.location);
    if (known == sizes.end()) {
      if (sizes.size() == kMaxExternalFiles)
        throw make_error(ErrorCode::resource_exhausted, "its weights are in more than ", kMaxExternalFiles, " files");
      known = sizes.emplace(tensor.location, size_of(files.path_of(tensor.location), tensor.location, contained)).first;
      files.bytes += known->second;
      files.external.push_back(tensor.location);
    }
    require_bytes(tensor, known->second);
  }
  std::ranges::sort(files.external);
  return files;
}

}  // namespace

OnnxFiles check_onnx_file(const fs::path& model) {
  try {
    return checked(model);
  } catch (const Error& error) {
    if (error.message().find(model.string()) != std::string_view::npos) throw;
    throw make_error(error.code(), model.string(), ": ", error.message());
  }
}

Fingerprint content_of(const OnnxFiles& files, const base::FileDigests& digests) {
  FingerprintBuilder content;
  content.add(digests.sha256(files.model));
  for (const std::string& name : files.external) content.add(name).add(digests.sha256(files.path_of(name)));
  return content.finish();
}

}  // namespace alate::exchange
