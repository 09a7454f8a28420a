// The pages of a package index: the first byte says which of the two kinds the rest is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "alate/error.h"
#include "hub/install/package_index.h"

using alate::Error;
using alate::ErrorCode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view page(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string_view type = data[0] == 'j' ? "application/vnd.pypi.simple.v1+json" : "text/html";
  try {
    alate::hub::file_reference(page, type, "a-1.0-py3-none-any.whl");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) std::abort();
  }
  return 0;
}
