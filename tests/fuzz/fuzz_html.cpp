// Any bytes are a page: its encoding is found, and its text is valid UTF-8, not much longer than the page, with lines
// of the page.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/utf8.h"
#include "search/encodings/text_encodings.h"
#include "search/html_text.h"
#include "tokenizers/unicode/utf8.h"

using namespace alate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const search::EncodingSign sign = search::encoding_sign(bytes);
  const std::string_view encoding = sign.encoding.empty() ? search::stated_encoding(bytes) : sign.encoding;
  std::string page(bytes.substr(sign.mark));
  if (!encoding.empty() && encoding != "utf-8") {
    if (auto decoded = search::decode_bytes(page, encoding)) {
      if (formats::valid_utf8_prefix(*decoded) != decoded->size()) std::abort();
      page = std::move(*decoded);
    }
  }
  if (auto repaired = tokenizers::repair_utf8(page)) page = std::move(*repaired);

  const search::HtmlText read = search::text_of_html(page);
  if (formats::valid_utf8_prefix(read.text) != read.text.size()) std::abort();
  if (read.text.size() > 4 * page.size() + 16) std::abort();
  const auto lines = static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')) + 1;
  std::size_t place = 0;
  for (const auto& [byte, line] : read.lines) {
    if (byte < place || byte > read.text.size() || line == 0 || line > lines) std::abort();
    place = byte;
  }
  return 0;
}
