#include "apps/alate/texts/encode_options.h"

#include <cstdint>
#include <string_view>

#include "alate/error.h"

namespace alate::app {

void declare(Arguments& arguments, TextEncoding& encoding) {
  EncodeOptions& options = encoding.options;
  arguments.option(
      "--truncation", "WHICH", "longest_first, only_first or only_second", [&options](std::string_view name) {
        if (name == "longest_first") {
          options.strategy = Truncation::longest_first;
        } else if (name == "only_first") {
          options.strategy = Truncation::only_first;
        } else if (name == "only_second") {
          options.strategy = Truncation::only_second;
        } else {
          throw make_error(ErrorCode::invalid_argument, "is one of longest_first, only_first, only_second");
        }
      });
  arguments.choices({"longest_first", "only_first", "only_second"});
  arguments.option("--truncation-side", "SIDE", "the end that is cut off: left or right",
                   [&options](std::string_view name) {
                     if (name != "left" && name != "right")
                       throw make_error(ErrorCode::invalid_argument, "is one of left, right");
                     options.side = name == "left" ? Side::left : Side::right;
                   });
  arguments.choices({"left", "right"});
  arguments.option("--stride", "N", "list what was cut as windows that share N tokens", encoding.stride);
  arguments.flag("--no-special", "add no special tokens", encoding.no_special);
}

void complete(const Arguments& arguments, const CommonOptions& common, TextEncoding& encoding) {
  if (encoding.stride && !common.max_length)
    throw arguments.usage_error("--stride needs --max-length, the size of a window");
  encoding.options.add_special_tokens = !encoding.no_special;
  encoding.options.max_length = common.max_length;
  encoding.options.stride = encoding.stride.value_or(0);
}

Encoding encode(const Tokenizer& tokenizer, const InputText& input, const TextEncoding& encoding) {
  return input.pair ? tokenizer.encode_pair(input.text, *input.pair, encoding.options)
                    : tokenizer.encode(input.text, encoding.options);
}

void add_to(FingerprintBuilder& identity, const TextEncoding& encoding) {
  const EncodeOptions& options = encoding.options;
  const auto add = [&](bool is_given, std::size_t value) {
    identity.add(std::uint64_t{is_given}).add(std::uint64_t{value});
  };
  add(options.max_length.has_value(), options.max_length.value_or(0));
  add(encoding.stride.has_value(), encoding.stride.value_or(0));
  add(options.side.has_value(), options.side ? static_cast<std::size_t>(*options.side) : 0);
  add(options.add_special_tokens, static_cast<std::size_t>(options.strategy));
}

}  // namespace alate::app
