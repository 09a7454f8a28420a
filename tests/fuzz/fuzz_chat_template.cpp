// A template, and a request after the first zero byte; after a first byte of 1, the choices of a grammar that writes
// the template. Rendering throws alate::Error or gives valid UTF-8, within the limits and twice the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "alate/chat_template.h"
#include "alate/error.h"
#include "formats/utf8.h"
#include "tests/fuzz/template_grammar.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::string render(const alate::ChatTemplate& chat, std::string_view request) {
  try {
    const alate::RenderedChat result = chat.render_request(request);
    check(alate::formats::valid_utf8_prefix(result.text) == result.text.size());
    for (const auto& [begin, end] : result.generated) check(begin <= end && end <= result.text.size());
    return result.text;
  } catch (const alate::Error& error) {  // refused by the template or by a limit
    check(error.code() != alate::ErrorCode::internal);
    return "refused";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kRequest =
      R"({"messages": [{"role": "user", "content": "a b\nc"}, {"role": "assistant", "content": [{"type": "text", "text": "é"}]}],
          "tools": [{"type": "function", "function": {"name": "f", "parameters": {"a": [1, 1.5, null]}}}], "x": {"k": [3, 1, 2]}})";
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string written;
  if (input.starts_with('\1')) {
    written = alate::tests::TemplateGrammar({data + 1, size - 1}).written();
    input = written;
  }
  const std::size_t split = input.find('\0');
  try {
    const alate::ChatTemplate chat(input.substr(0, split), {{"bos_token", "<s>"}});
    const std::string text = render(chat, kRequest);
    if (input.find("strftime_now") == std::string_view::npos) check(text == render(chat, kRequest));
    if (split != std::string_view::npos) render(chat, input.substr(split + 1));
  } catch (const alate::Error& error) {  // no template
    check(error.code() != alate::ErrorCode::internal);
  }
  return 0;
}
