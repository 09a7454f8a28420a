// alate tokenize
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/chat_template.h"
#include "alate/tokenizer.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/texts/big_job.h"
#include "apps/alate/texts/chat_lines.h"
#include "apps/alate/texts/encode_options.h"
#include "apps/alate/texts/encoding_writer.h"
#include "apps/alate/texts/id_lines.h"
#include "apps/alate/texts/text_source.h"
#include "apps/alate/texts/token_batch.h"
#include "apps/alate/verb.h"
#include "formats/json.h"
#include "formats/tensor_file.h"

namespace alate::app {
namespace {

// Small parts: a text becomes some ten times as many bytes of JSON.
constexpr std::size_t kPartTexts = 2048, kPartBytes = std::size_t{512} << 10;

// Writes one result after the other in the format of --output.
class ResultWriter {
 public:
  ResultWriter(Output& output, OutputFormat format, const std::string& model, std::string_view list)
      : output_(output), format_(format) {
    if (format_ != OutputFormat::json) return;
    std::string head = "{\"model\":";
    formats::append_json_string(head, model);
    output_.write(head + ",\"" + std::string(list) + "\":[");
  }
  OutputFormat format() const { return format_; }
  /// The results of a part; only jsonl has refused lines.
  void add(const std::vector<std::string>& results, const PartPlace& place) {
    const auto write = [&](std::size_t i) {
      if (format_ == OutputFormat::json && place.first + i > 0) output_.write(",");
      output_.write(results[i]);
      if (format_ != OutputFormat::json) output_.write("\n");
    };
    write_in_order(results.size(), place.refused, write, [&](const RefusedLine& line) {
      if (format_ == OutputFormat::jsonl) output_.write(error_line(line) + "\n");
    });
  }
  void finish() {
    if (format_ == OutputFormat::json) output_.write("]}\n");
  }

 private:
  Output& output_;
  OutputFormat format_;
};

std::string result_of(const Encoding& encoding, const InputText& input, const TextEncoding& how, OutputFormat format) {
  std::string result;
  if (format == OutputFormat::text) {
    append_encoding_text(result, encoding);
  } else {
    append_encoding_json(result, encoding,
                         {.windows = how.stride.has_value(), .words = how.lists_words, .mask = how.pads()});
    if (!input.members.empty()) result.insert(1, input.members + ",");  // behind the brace
  }
  return result;
}

class EncodePart : public JobPart {
 public:
  EncodePart(const Tokenizer& tokenizer, const TextEncoding& how, ResultWriter& writer)
      : tokenizer_(tokenizer), how_(how), writer_(writer) {}

  std::optional<std::size_t> read(TextSource& source) override {
    auto input = source.next();
    if (!input) return std::nullopt;
    inputs_.push_back(std::move(*input));
    return inputs_.back().text.size() + inputs_.back().pair.value_or("").size() + inputs_.back().members.size();
  }
  void run(const PartRun& run) override {
    results_.resize(inputs_.size());
    run_in_parallel(inputs_.size(), run, [&](std::size_t i) {
      results_[i] = result_of(encode(tokenizer_, inputs_[i], how_), inputs_[i], how_, writer_.format());
    });
  }
  void write(const PartPlace& place) override { writer_.add(results_, place); }

 private:
  const Tokenizer& tokenizer_;
  const TextEncoding& how_;
  ResultWriter& writer_;
  std::vector<InputText> inputs_;
  std::vector<std::string> results_;
};

// All texts of a job that pads to the longest of them, with the refused lines between them.
struct WholeJob {
  std::vector<InputText> inputs;
  std::vector<Encoding> encodings;
  std::vector<RefusedLine> refused;  // `before` counts from the first input of the job
};

void add_part(WholeJob& whole, std::vector<InputText>& inputs, std::vector<Encoding>& encodings,
              const PartPlace& place) {
  for (RefusedLine line : place.refused) {
    line.before += whole.inputs.size();
    whole.refused.push_back(std::move(line));
  }
  std::ranges::move(inputs, std::back_inserter(whole.inputs));
  std::ranges::move(encodings, std::back_inserter(whole.encodings));
}

// Texts whose encodings wait for the last one: they become one batch.
class BatchPart : public JobPart {
 public:
  using Keep = std::function<void(std::vector<InputText>&, std::vector<Encoding>&, const PartPlace&)>;

  BatchPart(const Tokenizer& tokenizer, const TextEncoding& how, const Keep& keep)
      : tokenizer_(tokenizer), how_(how), keep_(keep) {}

  std::optional<std::size_t> read(TextSource& source) override {
    auto input = source.next();
    if (!input) return std::nullopt;
    inputs_.push_back(std::move(*input));
    return inputs_.back().text.size() + inputs_.back().pair.value_or("").size();
  }
  void run(const PartRun& run) override {
    encodings_.resize(inputs_.size());
    run_in_parallel(inputs_.size(), run, [&](std::size_t i) { encodings_[i] = encode(tokenizer_, inputs_[i], how_); });
  }
  void write(const PartPlace& place) override { keep_(inputs_, encodings_, place); }

 private:
  const Tokenizer& tokenizer_;
  const TextEncoding& how_;
  const Keep& keep_;
  std::vector<InputText> inputs_;
  std::vector<Encoding> encodings_;
};

// A text as the result of a line.
std::string text_result(const std::string& text, OutputFormat format) {
  if (format == OutputFormat::text) return terminal_lines(text);
  std::string result = format == OutputFormat::jsonl ? "{\"text\":" : "";
  formats::append_json_string(result, text);
  if (format == OutputFormat::jsonl) result += '}';
  return result;
}

class DecodePart : public JobPart {
 public:
  DecodePart(const Tokenizer& tokenizer, const DecodeOptions& options, ResultWriter& writer)
      : tokenizer_(tokenizer), options_(options), writer_(writer) {}

  std::optional<std::size_t> read(TextSource& source) override {
    auto ids = next_ids(source);
    if (!ids) return std::nullopt;
    ids_.push_back(std::move(*ids));
    return ids_.back().size() * sizeof(std::int32_t);
  }
  void run(const PartRun& run) override {
    results_.resize(ids_.size());
    run_in_parallel(ids_.size(), run, [&](std::size_t i) {
      results_[i] = text_result(tokenizer_.decode(ids_[i], options_), writer_.format());
    });
  }
  void write(const PartPlace& place) override { writer_.add(results_, place); }

 private:
  const Tokenizer& tokenizer_;
  const DecodeOptions& options_;
  ResultWriter& writer_;
  std::vector<std::vector<std::int32_t>> ids_;
  std::vector<std::string> results_;
};

// Conversations are rendered as they are read: one that the template refuses is a refused line.
class RenderPart : public JobPart {
 public:
  RenderPart(const ChatTemplate& chat, ResultWriter& writer) : chat_(chat), writer_(writer) {}

  std::optional<std::size_t> read(TextSource& source) override {
    auto text = next_chat(source, chat_);
    if (!text) return std::nullopt;
    texts_.push_back(std::move(*text));
    return texts_.back().size();
  }
  void run(const PartRun&) override {
    for (const std::string& text : texts_) results_.push_back(text_result(text, writer_.format()));
  }
  void write(const PartPlace& place) override { writer_.add(results_, place); }

 private:
  const ChatTemplate& chat_;
  ResultWriter& writer_;
  std::vector<std::string> texts_, results_;
};

// Conversations to texts, by the model's chat template.
void render_chats(BigJob& job, const std::filesystem::path& path, TextInput input, OutputFormat format,
                  const std::string& model) {
  const ChatTemplate chat = ChatTemplate::load(path);
  job.open(input_of_chats(std::move(input)));
  job.take_up([&] {
    FingerprintBuilder identity;
    add_model_files(identity, path);
    return identity.add("template");
  });
  ResultWriter writer(job.output(), format, model, "texts");
  job.run([&] { return std::make_unique<RenderPart>(chat, writer); });
  writer.finish();
  job.finish();
}

std::string_view why_not_resumable(OutputFormat format, bool pads_to_longest) {
  if (pads_to_longest) return "the longest text may come last; give --padding a number";
  switch (format) {
    case OutputFormat::json: return "json is one object; choose jsonl or text";
    case OutputFormat::safetensors:
      return "the rows of safetensors are as long as the longest, which may come last; choose jsonl or text";
    default: return "";
  }
}

}  // namespace

void run_tokenize(Arguments& arguments) {
  std::string model;
  TextInput input{.invalid_utf8 = InvalidUtf8::replace};
  TextEncoding how;
  bool decodes = false, renders = false;
  DecodeOptions decoding;
  BigJobOptions chosen;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  declare(arguments, how);
  arguments.flag("--decode", "ids to texts: as arguments, or one text a line as plain ids or {\"ids\": [...]}",
                 decodes);
  arguments.flag("--skip-special", "leave special tokens out of decoded texts", decoding.skip_special_tokens);
  arguments.flag("--clean-up-spaces", "take spaces before punctuation out of decoded texts", decoding.clean_up_spaces);
  arguments.flag("--template",
                 "conversations to texts by the model's chat template: each argument or line is {\"messages\": [...], "
                 "\"tools\": [...], \"add_generation_prompt\": true, ...}",
                 renders);
  declare(arguments, chosen);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl, OutputFormat::safetensors};
  declare(arguments, options, {Shared::models, Shared::threads, Shared::max_length}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  complete(arguments, options, how);
  const bool is_batch = format == OutputFormat::safetensors;
  if (decodes && is_batch) throw arguments.usage_error("--decode writes texts: text, json or jsonl");
  if (renders && (decodes || is_batch)) {
    throw arguments.usage_error("--template writes texts: text, json or jsonl, and not with --decode");
  }
  if (is_batch) how.options.with_offsets = how.options.with_tokens = false;

  BigJob job(arguments, options,
             {.verb = "tokenize",
              .options = chosen,
              .format = format,
              .not_resumable = why_not_resumable(format, how.pads_to_longest),
              .part_inputs = kPartTexts,
              .part_bytes = kPartBytes},
             input);
  const std::filesystem::path path =
      find_model(options, model, renders ? ModelUse::template_file : ModelUse::tokenizer);
  if (renders) return render_chats(job, path, std::move(input), format, model);
  const Tokenizer tokenizer = Tokenizer::load(path);
  TextSource& source = job.open(decodes ? input_of_ids(std::move(input)) : std::move(input));
  if (format == OutputFormat::jsonl && !decodes) source.keep_members(kEncodingMembers);

  job.take_up([&] {
    FingerprintBuilder identity;
    add_model_files(identity, path);
    add_to(identity, how);
    return identity.add(std::uint64_t{decodes})
        .add(std::uint64_t{decoding.skip_special_tokens})
        .add(std::uint64_t{decoding.clean_up_spaces});
  });

  const Padding padding = resolve_padding(tokenizer, how);
  if (is_batch) {
    TokenBatch batch(padding);
    const BatchPart::Keep keep = [&](auto&, const std::vector<Encoding>& encodings, const PartPlace&) {
      for (const Encoding& encoding : encodings) batch.add(encoding);
    };
    job.run([&] { return std::make_unique<BatchPart>(tokenizer, how, keep); });
    const std::vector<formats::NamedTensor> tensors = batch.tensors();
    job.output().write(formats::tensor_file_bytes(formats::TensorFileKind::safetensors, tensors));
    return job.finish();
  }
  if (how.pads() && !how.pads_to_longest) how.options.padding = padding;
  ResultWriter writer(job.output(), format, model, decodes ? "texts" : "encodings");
  if (decodes) {
    job.run([&] { return std::make_unique<DecodePart>(tokenizer, decoding, writer); });
  } else if (how.pads_to_longest) {
    WholeJob whole;
    const BatchPart::Keep keep = [&](std::vector<InputText>& inputs, std::vector<Encoding>& encodings,
                                     const PartPlace& place) { add_part(whole, inputs, encodings, place); };
    job.run([&] { return std::make_unique<BatchPart>(tokenizer, how, keep); });
    pad(whole.encodings, padding);
    std::vector<std::string> results;
    for (std::size_t i = 0; i < whole.inputs.size(); ++i)
      results.push_back(result_of(whole.encodings[i], whole.inputs[i], how, format));
    writer.add(results, {.first = 0, .refused = whole.refused});
  } else {
    job.run([&] { return std::make_unique<EncodePart>(tokenizer, how, writer); });
  }
  writer.finish();
  job.finish();
}

}  // namespace alate::app
