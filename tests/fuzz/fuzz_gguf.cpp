// Any bytes are a GGUF file or refused. Of what is read, every value can be asked for, every tensor lies inside the
// file, and a tokenizer in the metadata is refused or encodes a text.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "alate/error.h"
#include "formats/gguf/gguf_header.h"
#include "tests/fuzz/check_tokenizer.h"
#include "tokenizers/sources/gguf.h"

using namespace alate;
using namespace alate::formats;

namespace {

constexpr auto check = tests::require;
constexpr std::string_view kText = "Hello  w\u00F6rld \u4E16\u754C 123456 isn't <s>\n\t\U0001F600\xFF";

void visit(const GgufValue& value) {
  if (value.is_string()) {
    check(value.as_bytes("value").size() < std::size_t{1} << 32);
  } else if (value.is_array()) {
    std::size_t count = 0;
    for (const GgufValue element : value.as_array("value")) {
      visit(element);
      ++count;
    }
    check(count == value.as_array("value").size());
  } else if (value.type() == GgufType::boolean) {
    value.as_bool("value");
  } else {
    value.as_double("value");
  }
}

void read_header(std::span<const std::byte> file) {
  try {
    const GgufHeader header = parse_gguf_header(file, "fuzz");
    for (const auto& [key, value] : header.metadata) {
      check(header.find(key) == &value);
      visit(value);
    }
    std::size_t end = 0;
    for (const GgufTensor& tensor : header.tensors) {
      check(header.find_tensor(tensor.name) == &tensor);
      check(tensor.begin <= tensor.end && tensor.end <= file.size() && tensor.begin >= end);
      end = tensor.end;
    }
    tests::check_tokenizer(Tokenizer(tokenizers::read_gguf_tokenizer(header, "fuzz")), kText);
  } catch (const Error& error) {
    check(error.code() != ErrorCode::internal);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_header(std::as_bytes(std::span(data, size)));
  return 0;
}
