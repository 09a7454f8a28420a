// alate verify
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/verb.h"
#include "base/byte_text.h"
#include "folders/model_verification.h"
#include "formats/json.h"
#include "runtime/loading/model_files.h"

namespace alate::app {
namespace {

using folders::FileVerdict;
using folders::VerifiedFile;
using formats::Json;

std::size_t count_of(const std::vector<VerifiedFile>& files, bool (*is_counted)(FileVerdict)) {
  return static_cast<std::size_t>(
      std::ranges::count_if(files, [&](const VerifiedFile& file) { return is_counted(file.verdict); }));
}

std::size_t bad_count(const std::vector<VerifiedFile>& files) { return count_of(files, folders::is_bad); }

std::size_t unknown_count(const std::vector<VerifiedFile>& files) {
  return count_of(files, [](FileVerdict verdict) { return verdict == FileVerdict::unknown; });
}

std::string in_json(const std::string& model, const std::vector<VerifiedFile>& files) {
  Json::Array listed;
  for (const VerifiedFile& file : files) {
    Json::Object object = {{"name", file.name}, {"verdict", to_string(file.verdict)}, {"bytes", file.bytes}};
    if (!file.detail.empty()) object.emplace_back("detail", file.detail);
    listed.emplace_back(std::move(object));
  }
  return formats::to_json_text(Json::Object{{"model", model},
                                            {"good", bad_count(files) == 0 && unknown_count(files) < files.size()},
                                            {"verified", std::uint64_t{files.size() - unknown_count(files)}},
                                            {"without_digest", std::uint64_t{unknown_count(files)}},
                                            {"files", std::move(listed)}}) +
         "\n";
}

std::string in_text(const std::vector<VerifiedFile>& files) {
  std::string text;
  for (const VerifiedFile& file : files) {
    std::string verdict(to_string(file.verdict));
    verdict.resize(std::max<std::size_t>(verdict.size(), 10), ' ');
    text += verdict + "  " + terminal_text(file.name) + "  " + base::byte_text(file.bytes) +
            (file.detail.empty() ? "" : "  " + terminal_text(file.detail)) + "\n";
  }
  const std::size_t unknown = unknown_count(files);
  text += std::to_string(files.size() - unknown) + " of " + std::to_string(files.size()) + " files were compared";
  if (unknown > 0) text += "; nothing says what the " + std::to_string(unknown) + " without a digest should be";
  return text + "\n";
}

// "model.safetensors (flipped), vocab.txt (missing)".
std::string named(const std::vector<VerifiedFile>& files) {
  constexpr std::size_t kMost = 5;
  std::string text;
  std::size_t count = 0;
  for (const VerifiedFile& file : files) {
    if (!folders::is_bad(file.verdict) || ++count > kMost) continue;
    text += (text.empty() ? "" : ", ") + formats::quoted_name(file.name) + " (" + std::string(to_string(file.verdict)) +
            ")";
  }
  return count > kMost ? text + " and " + std::to_string(count - kMost) + " more" : text;
}

}  // namespace

void run_verify(Arguments& arguments) {
  std::string model;
  CommonOptions options;
  arguments.positional("MODEL", true, model);
  bool hides_progress = false;
  declare_progress(arguments, hides_progress);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {Shared::models}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  std::optional<Progress> progress;
  std::uint64_t shown = 0;
  const auto show = [&](const folders::VerifyProgress& at) {
    if (!progress) progress.emplace(options, true, hides_progress, "verify", at.total, "bytes");
    progress->add(at.done - std::min(at.done, shown));
    shown = std::max(at.done, shown);
  };
  const std::filesystem::path folder = runtime::find_model_files(find_model(options, model)).home;
  const std::vector<VerifiedFile> files = folders::verify_model(folder, show);
  progress.reset();
  if (!options.quiet) output.write(format == OutputFormat::json ? in_json(model, files) : in_text(files));
  output.finish();
  if (const std::size_t bad = bad_count(files); bad > 0)
    throw make_error(ErrorCode::corrupt, bad, " of ", files.size(), " files of ", formats::quoted_name(model),
                     " are not as published: ", named(files), "; fetch them again");
  if (unknown_count(files) == files.size())
    throw make_error(ErrorCode::not_found, "nothing says what the files of ", formats::quoted_name(model),
                     " should be: it has no model_manifest.json with digests and is not in huggingface_hub's cache");
}

}  // namespace alate::app
