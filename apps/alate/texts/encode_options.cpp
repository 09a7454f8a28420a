#include "apps/alate/texts/encode_options.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "alate/error.h"

namespace alate::app {
namespace {

Side side_of(std::string_view name) { return name == "left" ? Side::left : Side::right; }

void declare_padding(Arguments& arguments, TextEncoding& encoding) {
  arguments.option("--padding", "N", "pad to N tokens, or to the longest text: \"longest\"",
                   [&encoding](std::string_view value) {
                     encoding.pads_to_longest = value == "longest";
                     encoding.padded_length.reset();
                     if (encoding.pads_to_longest) return;
                     std::size_t length = 0;
                     const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
                     if (error != std::errc() || end != value.data() + value.size())
                       throw make_error(ErrorCode::invalid_argument, "is a number of tokens, or longest");
                     encoding.padded_length = length;
                   });
  arguments.choices({"longest"});
  arguments.option("--pad-to-multiple", "N", "pad to a multiple of N tokens", encoding.padding_multiple);
  arguments.one_of("--padding-side", "SIDE", "the end that is padded", {"left", "right"},
                   [&encoding](std::string_view name) { encoding.padding_side = side_of(name); });
  arguments.option("--pad-token", "TOKEN", "the token to pad with, instead of the tokenizer's own",
                   encoding.padding_token);
}

}  // namespace

void declare(Arguments& arguments, TextEncoding& encoding) {
  EncodeOptions& options = encoding.options;
  arguments.one_of("--truncation", "WHICH", "which text of a pair is cut",
                   {"longest_first", "only_first", "only_second"}, [&options](std::string_view name) {
                     options.strategy = name == "only_first"    ? Truncation::only_first
                                        : name == "only_second" ? Truncation::only_second
                                                                : Truncation::longest_first;
                   });
  arguments.one_of("--truncation-side", "SIDE", "the end that is cut off", {"left", "right"},
                   [&options](std::string_view name) { options.side = side_of(name); });
  arguments.option("--stride", "N", "list what was cut as windows that share N tokens", encoding.stride);
  arguments.flag("--no-special", "add no special tokens", encoding.no_special);
  declare_padding(arguments, encoding);
  arguments.flag("--words", "list each token's word_ids and sequence_ids in JSON", encoding.lists_words);
}

void complete(const Arguments& arguments, const CommonOptions& common, TextEncoding& encoding) {
  if (encoding.stride && !common.max_length)
    throw arguments.usage_error("--stride needs --max-length, the size of a window");
  encoding.options.add_special_tokens = !encoding.no_special;
  encoding.options.max_length = common.max_length;
  encoding.options.stride = encoding.stride.value_or(0);
}

Padding resolve_padding(const Tokenizer& tokenizer, const TextEncoding& encoding) {
  Padding padding = tokenizer.stated_padding().value_or(Padding());
  padding.length = encoding.padded_length;
  padding.multiple_of = encoding.padding_multiple;
  if (encoding.padding_side) padding.side = *encoding.padding_side;
  if (encoding.padding_token) {
    const auto id = tokenizer.token_to_id(*encoding.padding_token);
    if (!id)
      throw make_error(ErrorCode::invalid_argument, "--pad-token: the tokenizer has no token \"",
                       *encoding.padding_token, '"');
    padding.token = *encoding.padding_token;
    padding.id = *id;
  } else if (!tokenizer.stated_padding()) {
    for (const std::string_view usual : {"[PAD]", "<pad>", "<|pad|>", "<PAD>"}) {
      const auto id = tokenizer.token_to_id(usual);
      if (!id) continue;
      padding.token = usual;
      padding.id = *id;
      break;
    }
  }
  return padding;
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
  add(encoding.padded_length.has_value(), encoding.padded_length.value_or(0));
  add(encoding.padding_side.has_value(), encoding.padding_side ? static_cast<std::size_t>(*encoding.padding_side) : 0);
  add(encoding.lists_words, encoding.padding_multiple);
  identity.add(encoding.padding_token.value_or(""));
}

}  // namespace alate::app
