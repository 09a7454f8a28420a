// alate tokenize
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/tokenizer.h"
#include "apps/alate/common_options.h"
#include "apps/alate/texts/big_job.h"
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
    run_in_parallel(inputs_.size(), run, [&](std::size_t i) { results_[i] = result_of(inputs_[i]); });
  }
  void write(const PartPlace& place) override { writer_.add(results_, place); }

 private:
  std::string result_of(const InputText& input) const {
    const Encoding encoding = encode(tokenizer_, input, how_);
    std::string result;
    if (writer_.format() == OutputFormat::text) {
      append_encoding_text(result, encoding);
    } else {
      append_encoding_json(result, encoding, how_.stride.has_value());
      if (!input.members.empty()) result.insert(1, input.members + ",");  // behind the brace
    }
    return result;
  }

  const Tokenizer& tokenizer_;
  const TextEncoding& how_;
  ResultWriter& writer_;
  std::vector<InputText> inputs_;
  std::vector<std::string> results_;
};

// Texts whose tokens become the rows of one batch.
class BatchPart : public JobPart {
 public:
  BatchPart(const Tokenizer& tokenizer, const TextEncoding& how, TokenBatch& batch)
      : tokenizer_(tokenizer), how_(how), batch_(batch) {}

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
  void write(const PartPlace&) override {
    for (const Encoding& encoding : encodings_) batch_.add(encoding);
  }

 private:
  const Tokenizer& tokenizer_;
  const TextEncoding& how_;
  TokenBatch& batch_;
  std::vector<InputText> inputs_;
  std::vector<Encoding> encodings_;
};

class DecodePart : public JobPart {
 public:
  DecodePart(const Tokenizer& tokenizer, bool skip_special, ResultWriter& writer)
      : tokenizer_(tokenizer), skip_special_(skip_special), writer_(writer) {}

  std::optional<std::size_t> read(TextSource& source) override {
    auto ids = next_ids(source);
    if (!ids) return std::nullopt;
    ids_.push_back(std::move(*ids));
    return ids_.back().size() * sizeof(std::int32_t);
  }
  void run(const PartRun& run) override {
    results_.resize(ids_.size());
    run_in_parallel(ids_.size(), run, [&](std::size_t i) {
      const std::string text = tokenizer_.decode(ids_[i], skip_special_);
      std::string& result = results_[i];
      if (writer_.format() == OutputFormat::text) {
        result = text;
        return;
      }
      const bool is_line = writer_.format() == OutputFormat::jsonl;
      if (is_line) result = "{\"text\":";
      formats::append_json_string(result, text);
      if (is_line) result += '}';
    });
  }
  void write(const PartPlace& place) override { writer_.add(results_, place); }

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  ResultWriter& writer_;
  std::vector<std::vector<std::int32_t>> ids_;
  std::vector<std::string> results_;
};

std::string_view why_not_resumable(OutputFormat format) {
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
  bool decodes = false, skips_special = false;
  BigJobOptions chosen;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  declare(arguments, input);
  declare(arguments, how);
  arguments.flag("--decode", "ids to texts: as arguments, or one text a line as plain ids or {\"ids\": [...]}",
                 decodes);
  arguments.flag("--skip-special", "leave special tokens out of decoded texts", skips_special);
  declare(arguments, chosen);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl, OutputFormat::safetensors};
  declare(arguments, options, {Shared::models, Shared::threads, Shared::max_length}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  complete(arguments, options, how);
  const bool is_batch = format == OutputFormat::safetensors;
  if (decodes && is_batch) throw arguments.usage_error("--decode writes texts: text, json or jsonl");
  if (is_batch) how.options.with_offsets = how.options.with_tokens = false;

  BigJob job(arguments, options,
             {.verb = "tokenize",
              .options = chosen,
              .format = format,
              .not_resumable = why_not_resumable(format),
              .part_inputs = kPartTexts,
              .part_bytes = kPartBytes},
             input);
  const std::filesystem::path path = find_model(options, model);
  const Tokenizer tokenizer = Tokenizer::load(path);
  TextSource& source = job.open(decodes ? input_of_ids(std::move(input)) : std::move(input));
  if (format == OutputFormat::jsonl && !decodes) source.keep_members(kEncodingMembers);

  job.take_up([&] {
    FingerprintBuilder identity;
    add_model_files(identity, path);
    add_to(identity, how);
    return identity.add(std::uint64_t{decodes}).add(std::uint64_t{skips_special});
  });

  if (is_batch) {
    TokenBatch batch;
    job.run([&] { return std::make_unique<BatchPart>(tokenizer, how, batch); });
    const std::vector<formats::NamedTensor> tensors = batch.tensors();
    job.output().write(formats::tensor_file_bytes(formats::TensorFileKind::safetensors, tensors));
    return job.finish();
  }
  ResultWriter writer(job.output(), format, model, decodes ? "texts" : "encodings");
  if (decodes) {
    job.run([&] { return std::make_unique<DecodePart>(tokenizer, skips_special, writer); });
  } else {
    job.run([&] { return std::make_unique<EncodePart>(tokenizer, how, writer); });
  }
  writer.finish();
  job.finish();
}

}  // namespace alate::app
