// Any bytes are a JSON value or refused; a value's text reads back as the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/utf8.h"

using alate::Error;
using alate::ErrorCode;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  alate::formats::Json json;
  try {
    json = alate::formats::parse_json(text, "input", {.max_values = 100000});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) std::abort();
    return 0;
  }
  if (alate::formats::valid_utf8_prefix(text) != text.size()) std::abort();
  const std::string printed = to_json_text(json);
  if (to_json_text(alate::formats::parse_json(printed, "printed")) != printed) std::abort();
  return 0;
}
