#include "apps/alate/generate/generation_job.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/field_text.h"
#include "apps/alate/generate/generation_arguments.h"
#include "apps/alate/generate/generation_json.h"
#include "apps/alate/generate/stop_when.h"
#include "apps/alate/texts/resume.h"
#include "apps/alate/texts/task_verb.h"
#include "base/log.h"
#include "formats/json.h"

namespace alate::app {
namespace {

// What the parts share. They run one after the other.
struct SharedJob {
  const GenerationJob& wanted;
  Output& output;
  std::size_t next = 0;  // the number of the next prompt to run
  std::size_t unanswered = 0;
};

class GenerationPart : public TextPart {
 public:
  explicit GenerationPart(SharedJob& job) : TextPart("generate"), job_(job) {}

  void run(const PartRun& run) override {
    std::vector<std::string_view> prompts;
    for (const std::string& text : texts) {
      refusals_.push_back(refusal_of(text));
      if (refusals_.back().empty()) prompts.push_back(text);
    }
    GenerationOptions options = job_.wanted.options;
    // Parts have other random numbers, and the same when a job is continued.
    if (options.sampling.seed) *options.sampling.seed += job_.next;
    job_.next += texts.size();
    const base::Cancellation cancellation = run.cancellation;
    const StopWhen stop([cancellation] { return cancellation.is_requested(); });
    if (!prompts.empty() && (job_.wanted.on_error == OnError::skip || prompts.size() == texts.size()))
      made_ = job_.wanted.generator.generate_several(prompts, job_.wanted.counts, options, {.stop = stop.token()});
    run.computed(texts.size());
  }

  void write(const PartPlace& place) override {
    std::size_t answered = 0;
    const auto write_one = [&](std::size_t i) {
      const std::size_t number = place.first + i;
      if (refusals_[i].empty()) return job_.output.write(answer(i, number, made_[answered++]));
      if (job_.wanted.on_error == OnError::stop)
        throw make_error(ErrorCode::invalid_argument, "prompt ", number + 1, " ", refusals_[i]);
      ++job_.unanswered;
      if (job_.wanted.format == OutputFormat::jsonl)
        job_.output.write(begin_line(members[i]) + "\"index\":" + std::to_string(number) +
                          ",\"generation\":" + refusal_json("the prompt " + refusals_[i]) + "}\n");
    };
    if (job_.wanted.on_error == OnError::stop) {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        if (!refusals_[i].empty()) write_one(i);
      }
    }
    write_in_order(texts.size(), place.refused, write_one, [&](const RefusedLine& line) {
      if (job_.wanted.format == OutputFormat::jsonl) job_.output.write(error_line(line) + "\n");
    });
  }

 private:
  // Why there can be no text; empty if there can.
  std::string refusal_of(const std::string& text) const {
    const TextGenerator& generator = job_.wanted.generator;
    const EncodeOptions encode{
        .add_special_tokens = job_.wanted.options.add_special_tokens, .with_offsets = false, .with_tokens = false};
    const std::size_t tokens = generator.tokenizer().encode(text, encode).ids.size();
    if (tokens == 0) return "has no tokens";
    if (tokens < generator.context()) return {};
    return "has " + std::to_string(tokens) + " tokens, and the context of " + std::to_string(generator.context()) +
           " leaves no room for an answer";
  }

  std::string answer(std::size_t i, std::size_t number, const std::vector<Generation>& made) const {
    if (job_.wanted.format == OutputFormat::text) {
      std::string lines;
      for (const Generation& each : made) lines += on_one_line(each.text) + "\n";
      return lines;
    }
    const auto json_of = [&](const Generation& each) {
      formats::Json::Object object =
          generation_json(each, job_.wanted.generator, job_.wanted.options.sampling.logprobs.has_value());
      // Of a call that others shared; and the text is not the first one of its seed.
      std::erase_if(object, [](const auto& member) {
        return member.first == "seed" || member.first.ends_with("seconds") || member.first == "tokens_per_second" ||
               member.first == "cached_tokens";
      });
      return object;
    };
    std::string line = begin_line(members[i]) + "\"index\":" + std::to_string(number) + ",\"prompt\":";
    formats::append_json_string(line, texts[i]);
    formats::Json::Array all;
    for (const Generation& each : made) all.emplace_back(json_of(each));
    return line + ",\"generations\":" + formats::to_json_text(all) + "}\n";
  }

  SharedJob& job_;
  std::vector<std::string> refusals_;          // one for each text
  std::vector<std::vector<Generation>> made_;  // of those that are not refused
};

}  // namespace

void run_generation_job(const GenerationJob& wanted, BigJob& job) {
  job.take_up([&] {
    FingerprintBuilder identity = identity_of_model(wanted.generator.model(), wanted.folder);
    identity.add(generation_option_lines(wanted.options));
    for (const auto& [token, bias] : wanted.options.sampling.logit_bias)
      identity.add(static_cast<std::uint64_t>(token)).add(std::to_string(bias));
    for (const std::int32_t token : wanted.options.stopping.stop_token_ids)
      identity.add(static_cast<std::uint64_t>(token));
    identity.add(std::uint64_t{wanted.counts.n}).add(std::uint64_t{wanted.counts.best_of});
    return identity;
  });
  SharedJob shared{.wanted = wanted, .output = job.output(), .next = job.done()};
  job.run([&] { return std::make_unique<GenerationPart>(shared); });
  job.finish();
  if (shared.unanswered > 0)
    base::log(base::LogLevel::warn, "prompts have no text", {{"count", std::to_string(shared.unanswered)}},
              counted(shared.unanswered, "prompt") + " could not be continued");
}

}  // namespace alate::app
