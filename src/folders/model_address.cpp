#include "folders/model_address.h"

#include <algorithm>
#include <array>
#include <vector>

#include "alate/error.h"
#include "base/split_text.h"
#include "folders/model_reference.h"
#include "formats/json.h"

namespace alate::folders {
namespace {

constexpr std::array<std::string_view, 2> kSchemes = {"https://", "http://"};
constexpr std::array<std::string_view, 3> kHubs = {"huggingface.co", "www.huggingface.co", "hf.co"};
constexpr std::array<std::string_view, 5> kOtherPages = {"api", "datasets", "docs", "papers", "spaces"};
// What follows a model's name in the address of one of its pages.
constexpr std::array<std::string_view, 5> kInside = {"blob", "discussions", "raw", "resolve", "tree"};

template <typename Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != names.end();
}

// Without its scheme; nothing for a reference that is no address.
std::optional<std::string_view> without_scheme(std::string_view reference) {
  for (const std::string_view scheme : kSchemes) {
    if (reference.starts_with(scheme)) return reference.substr(scheme.size());
  }
  const std::string_view host = reference.substr(0, reference.find('/'));
  const bool has_more = host.size() < reference.size();
  return has_more && is_one_of(host, kHubs) ? std::optional(reference) : std::nullopt;
}

}  // namespace

std::optional<std::string> hub_model_of(std::string_view address) {
  const std::optional<std::string_view> rest = without_scheme(address);
  if (!rest) return std::nullopt;
  std::vector<std::string_view> parts;
  for (const std::string_view part : base::split_text(rest->substr(0, rest->find_first_of("?#")), '/')) {
    if (!part.empty()) parts.push_back(part);
  }
  if (parts.size() < 2 || !is_one_of(parts[0], kHubs) || is_one_of(parts[1], kOtherPages)) return std::nullopt;
  std::string name(parts[1]);
  if (parts.size() > 2 && !is_one_of(parts[2], kInside)) name += "/" + std::string(parts[2]);
  if (name.ends_with(".git")) name.resize(name.size() - std::string_view(".git").size());
  return is_model_name(name) ? std::optional(std::move(name)) : std::nullopt;
}

void refuse_address(std::string_view reference, const std::filesystem::path& models_directory) {
  if (!without_scheme(reference)) return;
  const std::string shown = formats::quoted_name(reference);
  const std::optional<std::string> name = hub_model_of(reference);
  if (!name)
    throw make_error(ErrorCode::invalid_argument, shown,
                     " is a web address of no model on Hugging Face; download the folder of a model and give its path");
  const std::filesystem::path folder = models_directory / std::filesystem::path(*name);
  if (!models_directory.empty() && is_model_folder(folder))
    throw make_error(ErrorCode::invalid_argument, shown, " is a web address; the model is here already: name it ",
                     *name);
  throw make_error(ErrorCode::invalid_argument, shown, " is a web address; fetch the model with `alate pull hf:", *name,
                   "`, then name it ", *name);
}

}  // namespace alate::folders
