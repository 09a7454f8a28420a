// Any bytes are a JSON value or refused; a value's text reads back as the same text. The reader without a tree accepts
// the same texts, except that it passes over repeated keys and the values of numbers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/json_reader.h"
#include "formats/utf8.h"

using alate::Error;
using alate::ErrorCode;

namespace {

bool reader_accepts(std::string_view text) {
  try {
    alate::formats::JsonReader reader(text, "input");
    reader.skip_value();
    reader.finish();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) std::abort();
    return false;
  }
}

bool is_about_keys_or_numbers(const Error& error) {
  return error.message().find("occurs twice") != std::string::npos ||
         error.message().find("number") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  alate::formats::Json json;
  try {
    json = alate::formats::parse_json(text, "input", {.max_values = 100000});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::resource_exhausted) std::abort();
    if (error.code() == ErrorCode::corrupt && !is_about_keys_or_numbers(error) && reader_accepts(text)) std::abort();
    return 0;
  }
  if (!reader_accepts(text)) std::abort();
  if (alate::formats::valid_utf8_prefix(text) != text.size()) std::abort();
  const std::string printed = to_json_text(json);
  if (to_json_text(alate::formats::parse_json(printed, "printed")) != printed) std::abort();
  return 0;
}
