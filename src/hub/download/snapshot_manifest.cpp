#include "hub/download/snapshot_manifest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "alate/version.h"
#include "base/ascii_case.h"
#include "base/files/file_digests.h"
#include "base/files/file_presence.h"
#include "base/log.h"
#include "folders/manifest.h"
#include "formats/json.h"

namespace alate::hub {
namespace {

using formats::Json;

constexpr std::string_view kFile = "model_manifest.json";
constexpr std::uint64_t kMostHashedBytes = std::uint64_t{64} << 20;

// The tasks of the hub that have one type of model; texts are classified by rerankers too, and features extracted from
// every encoder.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {
    {{"sentence-similarity", "embedder"},
     {"text-ranking", "reranker"},
     {"zero-shot-classification", "classifier"},
     {"token-classification", "recognizer"},
     {"text-generation", "generator"},
     {"automatic-speech-recognition", "transcriber"}}};

Json entry_of(const folders::CachedFile& file) {
  Json::Object entry = {{"name", file.name}};
  constexpr std::size_t kSha256Digits = 64;
  if (file.blob.size() == kSha256Digits) {
    entry.emplace_back("digest", "sha256:" + file.blob);
  } else if (file.bytes <= kMostHashedBytes) {
    entry.emplace_back("digest", "sha256:" + base::FileDigests({}).sha256(file.path));
  }
  entry.emplace_back("size", file.bytes);
  return entry;
}

Json files_of(const CacheWriter& writer, const RemoteModel& model) {
  std::set<std::string_view> listed;
  for (const RemoteFile& file : model.files) listed.insert(file.name);
  Json::Array files;
  for (const folders::CachedFile& file : writer.repo().files(writer.commit())) {
    if (file.problem.empty() && listed.contains(file.name)) files.push_back(entry_of(file));
  }
  return files;
}

std::string manifest_text(const CacheWriter& writer, const RemoteModel& model, const std::string& address) {
  const std::string& id = writer.repo().id();
  const std::size_t slash = id.find('/');
  Json::Object manifest = {{"schemaVersion", 1}, {"name", slash == std::string::npos ? id : id.substr(slash + 1)}};
  if (slash != std::string::npos) manifest.emplace_back("owner", id.substr(0, slash));
  const auto type = std::ranges::find(kTypes, model.task, [](const auto& each) { return each.first; });
  if (type != kTypes.end()) manifest.emplace_back("type", std::string(type->second));
  if (!model.licence.empty()) manifest.emplace_back("license", model.licence);
  manifest.emplace_back("files", files_of(writer, model));
  manifest.emplace_back("provenance", Json::Object{{"downloadedFrom", address},
                                                   {"commit", writer.commit()},
                                                   {"by", "alate " + std::string(version())}});
  return formats::to_json_text(manifest) + "\n";
}

}  // namespace

void write_snapshot_manifest(const CacheWriter& writer, const RemoteModel& model, const std::string& address,
                             const std::stop_token& stop) {
  const auto is_manifest = [](const RemoteFile& file) { return base::ascii_lower(file.name) == kFile; };
  if (std::ranges::any_of(model.files, is_manifest)) return;
  // Pulls of other variants into the snapshot wait, so that the last one lists the files of all.
  const auto lock = writer.lock(kFile, stop);
  const std::filesystem::path snapshot = writer.repo().snapshot(writer.commit());
  const std::string text = manifest_text(writer, model, address);
  try {
    if (base::is_there(snapshot / kFile) && !has_snapshot_manifest(snapshot)) return;  // the user's own
    folders::parse_manifest(text, std::string(kFile));
  } catch (const Error& error) {  // for example more files than a manifest may have
    base::log(base::LogLevel::warn, "a model gets no manifest",
              {{"model", writer.repo().id()}, {"reason", error.message()}},
              writer.repo().id() + " gets no model_manifest.json: " + error.message());
    return;
  }
  writer.put_text(std::string(kFile), text);
}

bool has_snapshot_manifest(const std::filesystem::path& snapshot) {
  const folders::Manifest manifest = folders::read_manifest(snapshot);
  const Json* provenance = manifest.json.is_object() ? manifest.json.find_value("provenance") : nullptr;
  return provenance != nullptr && provenance->is_object() &&
         provenance->get_string("commit", "") == snapshot.filename().string();
}

}  // namespace alate::hub
