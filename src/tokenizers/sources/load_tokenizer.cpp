#include "tokenizers/sources/load_tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "base/files/file_presence.h"
#include "base/files/mapped_file.h"
#include "base/log.h"
#include "formats/gguf/gguf_file.h"
#include "tokenizers/sources/gguf.h"
#include "tokenizers/sources/marian.h"
#include "tokenizers/sources/sentencepiece.h"
#include "tokenizers/sources/tiktoken.h"
#include "tokenizers/sources/tokenizer_config.h"
#include "tokenizers/sources/vocab_merges.h"
#include "tokenizers/sources/vocab_txt.h"

namespace alate::tokenizers {
namespace {

using LoadedTokenizer = std::shared_ptr<Tokenizer::Parts>;

constexpr std::array kSpmFileNames = {"tokenizer.model",     "spiece.model", "sentencepiece.bpe.model",
                                      "sentencepiece.model", "spm.model",    "tiktoken.model"};
constexpr std::size_t kMaxFolderEntries = 10'000;

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

// The file of the folder with this ending; nothing if there is none. Throws invalid_argument if there are several.
std::optional<std::filesystem::path> only_file(const std::filesystem::path& folder, std::string_view ending) {
  std::optional<std::filesystem::path> found;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator entries(folder, error);
       !error && entries != std::filesystem::directory_iterator() && seen < kMaxFolderEntries;
       entries.increment(error), ++seen) {
    if (in_lower_case(entries->path().extension().string()) != ending) continue;
    if (found)
      throw make_error(ErrorCode::invalid_argument, folder.string(), " has several files *", ending,
                       "; name the one that is meant");
    found = entries->path();
  }
  return found;
}

std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// SentencePiece's models and files of ranks may both be called tokenizer.model.
LoadedTokenizer load_model_file(const std::filesystem::path& file, const base::ContainedFiles* within) {
  const auto mapped = base::MappedFile::open(file, base::MappedFile::Mode::map, within);
  if (mapped->bytes().size() > base::kMaxTextBytes)
    throw make_error(ErrorCode::resource_exhausted, file.string(), " has ", mapped->bytes().size(), " bytes; at most ",
                     base::kMaxTextBytes, " are read from a file of this kind");
  const TokenizerConfig config = TokenizerConfig::read(file.parent_path());
  LoadedTokenizer loaded =
      is_tiktoken(text_of_bytes(mapped->bytes()))
          ? read_tiktoken(text_of_bytes(mapped->bytes()), file.stem().string(), config, file.string())
          : read_sentencepiece(mapped->bytes(), config, file.string());
  mapped->require_unchanged();
  return loaded;
}

LoadedTokenizer load_gguf(const std::filesystem::path& file, const base::ContainedFiles* within) {
  const auto gguf = formats::GgufFile::open(file, base::MappedFile::Mode::map, within);
  LoadedTokenizer loaded = read_gguf_tokenizer(gguf->header(), file.string());
  gguf->file().require_unchanged();
  return loaded;
}

LoadedTokenizer load_tokenizer_file(const std::filesystem::path& file, const base::ContainedFiles* within) {
  const std::string ending = in_lower_case(file.extension().string());
  const std::string name = file.filename().string();
  if (ending == ".gguf") return load_gguf(file, within);
  if (name == "source.spm" && base::is_there(file.parent_path() / "vocab.json"))
    return load_marian(file.parent_path(), TokenizerConfig::read(file.parent_path()));
  if (ending == ".model" || ending == ".spm" || ending == ".tiktoken") return load_model_file(file, within);
  if (name == "merges.txt" || name == "vocab.json")
    return load_vocab_merges(file.parent_path(), TokenizerConfig::read(file.parent_path()));
  if (ending == ".txt") return load_vocab_txt(file, within);
  return load_tokenizer_json(base::read_text_file(file, base::kMaxTextBytes, within), file.string());
}

// Of forms other than GGUF: the file that a folder's tokenizer is read from, with those beside it.
std::optional<std::filesystem::path> own_tokenizer_file_in(const std::filesystem::path& folder) {
  const auto has = [&](const char* name) { return base::is_there(folder / name); };
  for (const char* name : {"tokenizer.json", "vocab.txt"}) {
    if (has(name)) return folder / name;
  }
  if (has("vocab.json") && has("merges.txt")) return folder / "vocab.json";
  if (has("vocab.json") && has("source.spm")) return folder / "source.spm";
  for (const char* name : kSpmFileNames) {
    if (has(name)) return folder / name;
  }
  return only_file(folder, ".tiktoken");
}

// The file that a folder's tokenizer is read from, with those beside it; nothing where none is found.
std::optional<std::filesystem::path> tokenizer_file_in(const std::filesystem::path& folder) {
  if (auto file = own_tokenizer_file_in(folder)) return file;
  return only_file(folder, ".gguf");
}

LoadedTokenizer load_folder_form(const std::filesystem::path& folder, const TokenizerConfig& config) {
  const base::ContainedFiles contained(folder);
  const std::optional<std::filesystem::path> file = tokenizer_file_in(folder);
  if (file && file->filename() == "tokenizer.json")
    return load_tokenizer_json(base::read_text_file(*file, base::kMaxTextBytes, &contained), file->string(), &config);
  if (file && file->filename() == "vocab.json") return load_vocab_merges(folder, config);
  if (file && file->filename() == "source.spm") return load_marian(folder, config);
  if (file) return load_tokenizer_file(*file, &contained);
  throw make_error(ErrorCode::not_found, folder.string(),
                   " has no tokenizer: it needs a tokenizer.json, a vocab.txt, a vocab.json with merges.txt, a model "
                   "of SentencePiece (tokenizer.model, spiece.model), a *.tiktoken or a *.gguf");
}

// What transformers takes from tokenizer_config.json whatever form the vocabulary has.
void take_call_settings(Tokenizer::Parts& parts, const TokenizerConfig& config) {
  if (const std::optional<Side> side = config.truncation_side()) {
    if (parts.stated_max_length && *side != parts.stated_side)
      base::log(base::LogLevel::warn,
                "tokenizer_config.json (or its class) overrules tokenizer.json, as in transformers",
                {{"folder", config.where()}, {"overruled", "tokenizer.json: truncation.direction"}});
    parts.stated_side = *side;
  }
  parts.gives_type_ids = config.gives_type_ids().value_or(true);
}

LoadedTokenizer load_tokenizer_folder(const std::filesystem::path& folder) {
  const TokenizerConfig config = TokenizerConfig::read(folder);
  LoadedTokenizer loaded = load_folder_form(folder, config);
  take_call_settings(*loaded, config);
  return loaded;
}

}  // namespace

std::shared_ptr<Tokenizer::Parts> load_tokenizer(const std::filesystem::path& folder_or_file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(folder_or_file, ignored)) return load_tokenizer_folder(folder_or_file);
  return load_tokenizer_file(folder_or_file, nullptr);  // a file named by the caller may be a link to anywhere
}

bool has_own_tokenizer(const std::filesystem::path& folder) { return own_tokenizer_file_in(folder).has_value(); }

bool has_tokenizer(const std::filesystem::path& folder) { return tokenizer_file_in(folder).has_value(); }

}  // namespace alate::tokenizers
