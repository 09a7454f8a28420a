#include <string>
#include <utility>
#include <vector>

#include "tokenizers/normalizers/normalizer.h"

namespace alate::tokenizers {
namespace {

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(AlignedText& text) const override {
    for (const NormalizerPtr& part : parts_) part->apply(text);
  }

 private:
  std::vector<NormalizerPtr> parts_;
};

constexpr struct {
  std::string_view type;
  NormalizerPtr (*make)(const Json& part, std::string_view where);
} kNormalizers[] = {
    {"BertNormalizer", make_bert_normalizer},
    {"Lowercase", make_lowercase},
    {"StripAccents", make_strip_accents},
    {"NFC", make_nfc},
    {"NFD", make_nfd},
    {"NFKC", make_nfkc},
    {"NFKD", make_nfkd},
    {"Strip", make_strip},
    {"Replace", make_replace},
};

}  // namespace

NormalizerPtr load_normalizer(const Json& part, std::string_view where, int depth) {
  if (part.is_null()) return nullptr;
  check_depth(depth, where);
  const std::string& type = part_type(part, where);
  if (type == "Sequence") {
    std::vector<NormalizerPtr> parts;
    for (const Json& inner : array_member(part, "normalizers", where)) {
      if (NormalizerPtr made = load_normalizer(inner, where, depth + 1)) parts.push_back(std::move(made));
    }
    return std::make_unique<NormalizerSequence>(std::move(parts));
  }
  for (const auto& known : kNormalizers) {
    if (known.type == type) return known.make(part, where);
  }
  throw_unknown_part("normalizer", type, where);
}

}  // namespace alate::tokenizers
