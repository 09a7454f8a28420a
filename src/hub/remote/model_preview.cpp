#include "hub/remote/model_preview.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "base/byte_text.h"
#include "base/files/write_error.h"
#include "base/threads/mutex.h"
#include "folders/blob_digest.h"
#include "folders/model_variants.h"
#include "folders/variant_names.h"
#include "formats/json.h"
#include "hub/download/choose_files.h"
#include "hub/download/file_start.h"
#include "hub/download/hub_source.h"
#include "hub/download/mirror_source.h"
#include "hub/download/parallel.h"
#include "hub/download/pull_reference.h"
#include "hub/download/pull_tally.h"
#include "hub/download/usual_access.h"
#include "hub/registry/registry_reference.h"
#include "hub/registry/registry_source.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;
using formats::Json;

constexpr std::size_t kMostSmallBytes = std::size_t{1} << 20, kMostTokenizerBytes = std::size_t{4} << 20,
                      kMostIndexBytes = std::size_t{8} << 20, kMostFetched = std::size_t{64} << 20;
constexpr std::size_t kMostOutlines = 4096, kMostHeaders = 256;
constexpr unsigned kPrivateFolder = 0700;

bool ends_with_one_of(std::string_view name, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

bool is_of_tokenizer(std::string_view name) {
  constexpr std::array<std::string_view, 7> kEndings = {"tokenizer.json", "vocab.txt", "vocab.json", "merges.txt",
                                                        ".model",         ".tiktoken", ".vocab"};
  return ends_with_one_of(name, kEndings);
}

bool is_index(std::string_view name) {
  return name.find(".index.") != std::string_view::npos && name.ends_with(".json");
}

// How large a file may be to be fetched whole; 0: it is not.
std::size_t most_bytes_of(std::string_view name) {
  if (is_index(name)) return kMostIndexBytes;
  if (!is_supporting_file(name)) return 0;
  return is_of_tokenizer(name) ? kMostTokenizerBytes : kMostSmallBytes;
}

// Where a previewed model's bytes come from. Thread-safe.
struct PreviewSource {
  std::function<std::string(const RemoteFile&)> whole;
  std::function<std::optional<std::string>(const RemoteFile&, std::size_t count)> start;
};

// The manifest says which bytes the weights have; here are only their outlines.
std::string without_digests(const std::string& text) {
  Json json = formats::parse_json(text, "model_manifest.json", {.max_values = 100'000});
  if (!json.is_object()) return text;
  const auto plain = [](const Json& list) {
    Json::Array files;
    for (const Json& each : list.as_array("files"))
      files.push_back(Json::Object{{"name", each.get_string("name", "")}});
    return Json(std::move(files));
  };
  Json::Object out;
  for (const auto& [key, value] : json.as_object("manifest")) {
    if (key == "files") continue;
    if (key != "variants" || !value.is_object()) {
      out.emplace_back(key, value);
      continue;
    }
    Json::Object variants;
    for (const auto& [name, variant] : value.as_object(key)) {
      const Json* files = variant.is_object() ? variant.find_value("files") : nullptr;
      if (variant.is_array()) files = &variant;
      variants.emplace_back(name, files != nullptr && files->is_array()
                                      ? Json(Json::Object{{"files", plain(*files)}})
                                      : Json(Json::Object{{"name", variant.get_string("name", "")}}));
    }
    out.emplace_back(key, std::move(variants));
  }
  return formats::to_json_text(out);
}

class Previewer {
 public:
  Previewer(ModelPreview& preview, const PreviewSource& source, const std::vector<RemoteFile>& files,
            const std::vector<RemoteFile>& chosen, const std::stop_token& stop)
      : preview_(preview), source_(source), stop_(stop) {
    for (const RemoteFile& file : chosen) chosen_.insert(file.name);
    for (const RemoteFile& file : files)
      preview_.files.push_back(
          {.name = file.name, .bytes = file.bytes.value_or(0), .is_pulled = chosen_.contains(file.name)});
    outlined_ = files_to_outline(files);
    require_portable_names(outlined_, "the list of files of " + preview_.id);
  }

  void write() {
    const fs::path target = fs::temp_directory_path() / "alate-show";
    base::remove_abandoned_entries(target, base::EntryKind::folder);
    preview_.temporary = std::make_unique<base::TemporaryEntry>(target, base::EntryKind::folder, kPrivateFolder);
    folder_ = preview_.model = preview_.temporary->path() / fs::path(preview_.id);
    make_folder_of(folder_ / "x");
    std::atomic<std::size_t> next{0};
    run_in_parallel(std::clamp<std::size_t>(outlined_.size(), 1, kFilesAtOnce), stop_,
                    [&](const std::stop_token& stop) {
                      for (std::size_t i = next++; i < outlined_.size() && !stop.stop_requested(); i = next++)
                        add(outlined_[i]);
                    });
    if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "the look at the model was stopped");
    std::ranges::sort(preview_.notes);
  }

 private:
  // Weights of all variants, and what a run reads besides.
  std::vector<RemoteFile> files_to_outline(const std::vector<RemoteFile>& files) const {
    std::vector<std::string> names;
    for (const RemoteFile& file : files) names.push_back(file.name);
    std::set<std::string> wanted(chosen_.begin(), chosen_.end());
    for (const folders::ModelVariant& variant : folders::variants_of_names(names)) {
      wanted.insert(variant.file);
      wanted.insert(variant.files.begin(), variant.files.end());
    }
    std::vector<RemoteFile> outlined;
    for (const RemoteFile& file : files) {
      if ((wanted.contains(file.name) || is_supporting_file(file.name)) && outlined.size() < kMostOutlines)
        outlined.push_back(file);
    }
    return outlined;
  }

  static void make_folder_of(const fs::path& file) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) throw base::file_write_error(file.parent_path(), error.value());
  }

  void put(const RemoteFile& file, const std::string& text, std::uint64_t bytes) const {
    const fs::path path = folder_ / fs::path(file.name);
    make_folder_of(path);
    std::ofstream(path, std::ios::binary) << text;
    std::error_code error;
    fs::resize_file(path, bytes, error);  // without blocks for what is not there
    if (error) throw base::file_write_error(path, error.value());
  }

  void note(const std::string& text) {
    const std::lock_guard<base::Mutex> lock(mutex_);
    preview_.notes.push_back(text);
  }

  bool may_fetch(std::uint64_t bytes) { return (fetched_ += bytes) <= kMostFetched; }

  void add(const RemoteFile& file) {
    const bool is_short = chosen_.contains(file.name) && file.bytes.value_or(kMostSmallBytes) < kMostSmallBytes;
    const std::size_t most = std::max(most_bytes_of(file.name), is_short ? kMostSmallBytes : 0);
    if (most == 0) return add_outline(file);
    if (file.bytes.value_or(0) > most || !may_fetch(file.bytes.value_or(most))) return leave_out(file);
    if (is_index(file.name) && !chosen_.contains(file.name)) return put(file, "", file.bytes.value_or(0));
    std::string text;
    try {
      text = source_.whole(file);
    } catch (const Error& error) {
      return refuse(error);
    }
    if (file.name == "model_manifest.json") text = without_digests(text);
    put(file, text, text.size());
  }

  void leave_out(const RemoteFile& file) {
    if (is_of_tokenizer(file.name)) {
      const std::lock_guard<base::Mutex> lock(mutex_);
      preview_.has_tokenizer = false;
    }
    note(file.name + " (" + base::byte_text(file.bytes.value_or(0)) + ") is read once it is downloaded only");
  }

  void add_outline(const RemoteFile& file) {
    std::string start;
    const bool is_chosen = chosen_.contains(file.name);
    if (is_chosen && file.name.ends_with(".safetensors")) {
      std::optional<std::string> read;
      try {
        if (file.bytes && ++headers_ <= kMostHeaders && may_fetch(0))
          read = read_safetensors_start(*file.bytes, [&](std::size_t count) { return source_.start(file, count); });
      } catch (const Error& error) {
        return refuse(error);
      }
      if (!read) leave_weights("the server does not send the header of " + file.name + " without the file");
      start = read.value_or("");
      fetched_ += start.size();
    } else if (is_chosen && file.name.ends_with(".bin")) {
      leave_weights(file.name + " is a pickle: its tensors are looked at once it is downloaded");
    } else if (is_chosen && file.name.ends_with(".gguf")) {
      // Its vocabulary stands before all that could be said of it: many megabytes.
      const std::lock_guard<base::Mutex> lock(mutex_);
      if (!preview_.refusal)
        preview_.refusal = make_error(ErrorCode::unsupported, file.name,
                                      " is a GGUF, which is the model's configuration too, and is looked at once it is "
                                      "downloaded: GGUF");
    }
    put(file, start, std::max<std::uint64_t>(file.bytes.value_or(0), start.size()));
  }

  void leave_weights(const std::string& why) {
    const std::lock_guard<base::Mutex> lock(mutex_);
    if (std::exchange(preview_.has_weights, false)) preview_.notes.push_back(why);
  }

  // A gated model has a list of files that anybody may see. Errors of another kind are those of the whole look.
  void refuse(const Error& error) {
    if (error.code() != ErrorCode::unauthenticated) throw error;
    const std::lock_guard<base::Mutex> lock(mutex_);
    if (!preview_.refusal) preview_.refusal = error;
  }

  ModelPreview& preview_;
  const PreviewSource& source_;
  const std::stop_token& stop_;
  std::set<std::string, std::less<>> chosen_;
  std::vector<RemoteFile> outlined_;
  fs::path folder_;
  base::Mutex mutex_;
  std::atomic<std::uint64_t> fetched_{0};
  std::atomic<std::size_t> headers_{0};
};

// A file's text is what its digest says.
std::string verified_text(std::string text, const RemoteFile& file, const std::string& id) {
  auto digest = folders::BlobDigest::create(file.digest, text.size());
  if (!digest) return text;
  digest->add(std::as_bytes(std::span(text)));
  if (digest->finish() != file.digest)
    throw make_error(ErrorCode::corrupt, id, "/", file.name,
                     " has another digest than the list of files states: the server or the network changes it");
  return text;
}

void choose_variant(ModelPreview& preview, const std::string& variant) {
  if (variant.empty()) return;
  try {
    preview.model = folders::resolve_variant(preview.folder(), variant, preview.id);
  } catch (const Error& error) {
    if (!preview.refusal) preview.refusal = error;
  }
}

// The files that a pull would fetch; none, with the reason, where there is a choice to be made first.
template <typename Choose>
auto chosen_or_refusal(ModelPreview& preview, const Choose& choose) {
  decltype(choose()) chosen;
  try {
    chosen = choose();
  } catch (const Error& error) {
    const bool is_choice = error.code() == ErrorCode::not_found || error.code() == ErrorCode::invalid_argument ||
                           error.code() == ErrorCode::unauthenticated;
    if (!is_choice) throw;
    preview.refusal = error;
  }
  return chosen;
}

ModelPreview preview_of_hub(const PullReference& reference, const PullOptions& options) {
  const std::string& id = reference.id;
  std::unique_ptr<ModelSource> source;
  PreviewSource files;
  ModelPreview preview{.id = id, .server = reference.endpoint, .revision = reference.revision};
  RemoteModel model;
  if (is_file_address(reference.endpoint)) {
    source = std::make_unique<MirrorSource>(file_path(reference.endpoint));
    files.start = [](const RemoteFile&, std::size_t) { return std::nullopt; };
  } else {
    const HubAccess access = access_for(reference.endpoint, options);
    preview.server = access.endpoint().shown();
    if (preview.server.ends_with('/')) preview.server.pop_back();
    source = std::make_unique<HubSource>(access, options.connections);
    files.start = [access, &model, id](const RemoteFile& file, std::size_t count) {
      return read_start(access, access.file_url(id, model.commit, file.name), id, count);
    };
  }
  model = source->list(id, reference.revision);
  preview.commit = model.commit;
  preview.gated = model.gated;
  preview.licence = model.licence;
  files.whole = [&](const RemoteFile& file) { return verified_text(source->read_text(id, model, file), file, id); };
  FileChoice choice{
      .variants = options.variants, .include = options.include, .exclude = options.exclude, .all = options.all};
  if (!reference.variant.empty()) choice.variants.push_back(reference.variant);
  choice.file = reference.file;
  const std::vector<RemoteFile> chosen =
      chosen_or_refusal(preview, [&] { return choose_files(model, id, choice, files.whole); });
  Previewer(preview, files, model.files, chosen, options.stop).write();
  choose_variant(preview, reference.variant);
  if (!reference.file.empty()) preview.model = preview.folder() / fs::path(reference.file);
  return preview;
}

RemoteFile remote_file(const folders::ManifestFile& file) {
  return {.name = file.name, .bytes = file.size.value_or(0) > 0 ? file.size : std::nullopt, .digest = file.sha256};
}

ModelPreview preview_of_registry(const RegistryReference& reference, const PullOptions& options) {
  const RegistrySource source(registry_access_for(reference.registry, options), options.connections);
  const RegistrySource::ListedModel listed = source.model(reference.id);
  ModelPreview preview{.id = manifest_id(listed.manifest),
                       .server = source.address(),
                       .revision = source.address(),
                       .commit = listed.digest};
  const PreviewSource files{
      .whole =
          [&](const RemoteFile& file) {
            return verified_text(source.read_text(preview.id, file, kMostIndexBytes), file, preview.id);
          },
      .start = [&](const RemoteFile& file, std::size_t count) { return source.read_start(preview.id, file, count); }};
  RegistryChoice choice{
      .variants = options.variants, .include = options.include, .exclude = options.exclude, .all = options.all};
  if (!reference.variant.empty()) choice.variants.push_back(reference.variant);
  std::vector<RemoteFile> all, chosen;
  for (const folders::ManifestFile& file : choose_registry_files(listed.manifest, {.all = true}, "the manifest"))
    all.push_back(remote_file(file));
  for (const folders::ManifestFile& file :
       chosen_or_refusal(preview, [&] { return choose_registry_files(listed.manifest, choice, "the manifest"); }))
    chosen.push_back(remote_file(file));
  Previewer(preview, files, all, chosen, options.stop).write();
  const std::string text = without_digests(formats::to_json_text(listed.manifest.json));
  std::ofstream(preview.folder() / "model_manifest.json", std::ios::binary) << text;
  choose_variant(preview, reference.variant);
  return preview;
}

}  // namespace

fs::path ModelPreview::folder() const { return temporary->path() / fs::path(id); }

std::uint64_t ModelPreview::bytes_to_fetch() const {
  std::uint64_t bytes = 0;
  for (const PreviewFile& file : files) bytes += file.is_pulled ? file.bytes : 0;
  return bytes;
}

bool is_remote_reference(std::string_view reference, std::string_view registry) {
  return is_registry_reference(reference, registry) || reference.starts_with("hf:") ||
         reference.starts_with("http://") || reference.starts_with("https://") || reference.starts_with("file:");
}

ModelPreview preview_model(std::string_view reference, const PullOptions& options) {
  if (is_registry_reference(reference, options.registry)) {
    const RegistryReference parsed = parse_registry_reference(reference, options.registry);
    if (!is_offline(options)) return preview_of_registry(parsed, options);
    throw make_error(ErrorCode::unavailable, "HF_HUB_OFFLINE or --offline forbids asking the registry for ", parsed.id);
  }
  const PullReference parsed = parse_pull_reference(with_whole_path(reference));
  if (is_file_address(parsed.endpoint) || !is_offline(options)) return preview_of_hub(parsed, options);
  throw make_error(ErrorCode::unavailable, parsed.id,
                   " is not on this machine, and HF_HUB_OFFLINE or --offline forbids asking the hub for it");
}

}  // namespace alate::hub
