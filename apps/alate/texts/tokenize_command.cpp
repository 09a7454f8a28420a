// alate tokenize
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/encoding_writer.h"
#include "apps/alate/texts/id_lines.h"
#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/texts/token_batch.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace alate::app {
namespace {

constexpr std::size_t kTextsOfProgress = 64;  // between looks at the clock

struct TokenizeOptions {
  EncodeOptions encode;
  std::optional<std::size_t> stride;
  bool no_special = false;
  bool decode = false;
  bool skip_special = false;
  bool hides_progress = false;
  OnError on_error = OnError::stop;
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
  arguments.choices({"longest_first", "only_first", "only_second"});
  arguments.option("--truncation-side", "SIDE", "the end that is cut off: left or right", [&](std::string_view name) {
    if (name != "left" && name != "right") throw make_error(ErrorCode::invalid_argument, "is one of left, right");
    options.encode.side = name == "left" ? Side::left : Side::right;
  });
  arguments.choices({"left", "right"});
  arguments.option("--stride", "N", "list what was cut as windows that share N tokens", options.stride);
  arguments.flag("--no-special", "add no special tokens", options.no_special);
  arguments.flag("--decode", "ids to texts: as arguments, or one text a line as plain ids or {\"ids\": [...]}",
                 options.decode);
  arguments.flag("--skip-special", "leave special tokens out of decoded texts", options.skip_special);
  app::declare(arguments, options.on_error);
  declare_progress(arguments, options.hides_progress);
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
  while (const auto ids = next_ids(source)) {
    const std::string text = tokenizer.decode(*ids, skip_special);
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
                Output& output, const std::string& model, Progress& progress) {
  ResultWriter results(output, format, model, "encodings");
  if (format == OutputFormat::jsonl) source.keep_members(kEncodingMembers);
  SkippedLines skipped;
  std::size_t done = 0;
  const auto skip = [&](const RefusedLine& refused) {
    progress.clear();
    skipped.add({&refused, 1});
    if (format == OutputFormat::jsonl) results.add(error_line(refused));
  };
  while (const auto input = next_good_text(source, options.on_error, skip)) {
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
    if (++done % kTextsOfProgress == 0) progress.add(kTextsOfProgress, source.share());
  }
  progress.clear();
  skipped.finish(done);
  results.finish();
}

void write_batch(const Tokenizer& tokenizer, TextSource& source, const TokenizeOptions& options, Output& output) {
  TokenBatch batch;
  SkippedLines skipped;
  std::size_t done = 0;
  const auto skip = [&](const RefusedLine& refused) { skipped.add({&refused, 1}); };
  for (; const auto input = next_good_text(source, options.on_error, skip); ++done) {
    batch.add(input->pair ? tokenizer.encode_pair(input->text, *input->pair, options.encode)
                          : tokenizer.encode(input->text, options.encode));
  }
  skipped.finish(done);
  const std::vector<formats::NamedTensor> tensors = batch.tensors();
  output.write(formats::tensor_file_bytes(formats::TensorFileKind::safetensors, tensors));
  output.finish();
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
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl, OutputFormat::safetensors};
  declare(arguments, options, {Shared::models, Shared::max_length}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  tokenize.encode.add_special_tokens = !tokenize.no_special;
  tokenize.encode.max_length = options.max_length;
  tokenize.encode.stride = tokenize.stride.value_or(0);
  if (tokenize.stride && !options.max_length)
    throw arguments.usage_error("--stride needs --max-length, the size of a window");
  if (tokenize.decode && format == OutputFormat::safetensors)
    throw arguments.usage_error("--decode writes texts: text, json or jsonl");

  Output output(options.out);
  const Tokenizer tokenizer = Tokenizer::load(find_model(options, model));
  TextSource source(tokenize.decode ? input_of_ids(std::move(input)) : std::move(input));
  if (format == OutputFormat::safetensors) {
    write_batch(tokenizer, source, tokenize, output);
  } else if (tokenize.decode) {
    decode_all(tokenizer, source, tokenize.skip_special, format, output, model);
  } else {
    Progress progress(options, output, tokenize.hides_progress, "tokenize", std::nullopt);
    encode_all(tokenizer, source, tokenize, format, output, model, progress);
  }
}

}  // namespace alate::app
