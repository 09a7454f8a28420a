// alate tokenize
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/encoding_writer.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/verb.h"
#include "formats/json.h"

namespace alate::app {
namespace {

struct TokenizeOptions {
  EncodeOptions encode;
  std::optional<std::size_t> stride;
  bool no_special = false;
  bool decode = false;
  bool skip_special = false;
};

void declare(Arguments& arguments, TokenizeOptions& options) {
  arguments.option("--truncation", "WHICH", "longest_first, only_first or only_second", [&](std::string_view name) {
    if (name == "longest_first") {
      options.encode.strategy = Truncation::longest_first;
    } else if (name == "only_first") {
      options.encode.strategy = Truncation::only_first;
    } else if (name == "only_second") {
      options.encode.strategy = Truncation::only_second;
    } else {
      throw make_error(ErrorCode::invalid_argument, "is one of longest_first, only_first, only_second");
    }
  });
  arguments.option("--truncation-side", "SIDE", "the end that is cut off: left or right", [&](std::string_view name) {
    if (name != "left" && name != "right") throw make_error(ErrorCode::invalid_argument, "is one of left, right");
    options.encode.side = name == "left" ? Side::left : Side::right;
  });
  arguments.option("--stride", "N", "list what was cut as windows that share N tokens", options.stride);
  arguments.flag("--no-special", "add no special tokens", options.no_special);
  arguments.flag("--decode", "ids to texts: input has {\"ids\": [...]} a line", options.decode);
  arguments.flag("--skip-special", "leave special tokens out of decoded texts", options.skip_special);
}

std::vector<std::int32_t> read_ids(const formats::Json& line, const std::string& place) {
  const formats::Json* ids = line.find("ids");
  if (ids == nullptr || !ids->is_array()) throw make_error(ErrorCode::invalid_argument, place, " has no list \"ids\"");
  std::vector<std::int32_t> out;
  for (const formats::Json& id : ids->as_array("ids")) {
    const std::int64_t value = id.as_int(place + ": an id");
    if (value < 0 || value > std::numeric_limits<std::int32_t>::max())
      throw make_error(ErrorCode::invalid_argument, place, " has an id out of range");
    out.push_back(static_cast<std::int32_t>(value));
  }
  return out;
}

// Writes one result after the other in the format of --output.
class ResultWriter {
 public:
  ResultWriter(Output& output, OutputFormat format, const std::string& model, std::string_view list)
      : output_(output), is_body_(format == OutputFormat::json) {
    if (!is_body_) return;
    std::string head = "{\"model\":";
    formats::append_json_string(head, model);
    output_.write(head + ",\"" + std::string(list) + "\":[");
  }
  void add(std::string_view result) {
    if (is_body_ && count_ > 0) output_.write(",");
    output_.write(result);
    if (!is_body_) output_.write("\n");
    ++count_;
  }
  void finish() {
    if (is_body_) output_.write("]}\n");
    output_.finish();
  }

 private:
  Output& output_;
  bool is_body_;
  std::size_t count_ = 0;
};

void decode_all(const Tokenizer& tokenizer, TextSource& source, bool skip_special, OutputFormat format, Output& output,
                const std::string& model) {
  ResultWriter results(output, format, model, "texts");
  while (const auto line = source.next_json()) {
    const std::string text = tokenizer.decode(read_ids(*line, source.place()), skip_special);
    std::string result;
    if (format == OutputFormat::jsonl) {
      result += "{\"text\":";
      formats::append_json_string(result, text);
      result += '}';
    } else if (format == OutputFormat::json) {
      formats::append_json_string(result, text);
    } else {
      result = text;
    }
    results.add(result);
    if (source.may_wait()) output.flush();
  }
  results.finish();
}

void encode_all(const Tokenizer& tokenizer, TextSource& source, const TokenizeOptions& options, OutputFormat format,
                Output& output, const std::string& model) {
  ResultWriter results(output, format, model, "encodings");
  if (format == OutputFormat::jsonl) source.keep_members(kEncodingMembers);
  while (const auto input = source.next()) {
    const Encoding encoding = input->pair ? tokenizer.encode_pair(input->text, *input->pair, options.encode)
                                          : tokenizer.encode(input->text, options.encode);
    std::string result;
    if (format == OutputFormat::text) {
      append_encoding_text(result, encoding);
    } else {
      append_encoding_json(result, encoding, options.stride.has_value());
      if (!input->members.empty()) result.insert(1, input->members + ",");  // behind the brace
    }
    results.add(result);
    if (source.may_wait()) output.flush();
  }
  results.finish();
}

}  // namespace

void run_tokenize(Arguments& arguments) {
  std::string model;
  TextInput input{.invalid_utf8 = InvalidUtf8::replace};
  TokenizeOptions tokenize;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  declare(arguments, tokenize);
  declare(arguments, options);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl});
  tokenize.encode.add_special_tokens = !tokenize.no_special;
  tokenize.encode.max_length = options.max_length;
  tokenize.encode.stride = tokenize.stride.value_or(0);
  if (tokenize.stride && !options.max_length)
    throw arguments.usage_error("--stride needs --max-length, the size of a window");

  Output output(options.out);
  const Tokenizer tokenizer = Tokenizer::load(find_model(options, model));
  TextSource source(std::move(input));
  if (tokenize.decode) {
    decode_all(tokenizer, source, tokenize.skip_special, format, output, model);
  } else {
    encode_all(tokenizer, source, tokenize, format, output, model);
  }
}

}  // namespace alate::app
