// The weights of a shapes.json, in memory instead of a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/tensor.h"
#include "formats/json.h"
#include "formats/weight_source.h"
#include "tests/golden/tiny_weights.h"

namespace alate::tests {

class TinyWeightSource final : public formats::WeightSource {
 public:
  explicit TinyWeightSource(const formats::Json& shapes) {
    for (formats::NamedTensor& each : tiny_tensors(shapes))
      tensors_.emplace(std::move(each.name), std::move(each.tensor));
  }

  std::vector<std::string_view> names() const override {
    std::vector<std::string_view> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names;
  }
  std::optional<formats::WeightInfo> info(std::string_view name) const override {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return std::nullopt;
    return formats::WeightInfo{.shape = found->second.shape(), .bytes = found->second.byte_count()};
  }
  Tensor tensor(std::string_view name) const override {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw make_error(ErrorCode::not_found, "shapes.json has no '", name, "'");
    return found->second;
  }
  Fingerprint identity(std::string_view name) const override { return FingerprintBuilder().add(name).finish(); }
  void release(std::string_view) const override {}
  void require_unchanged() const override {}
  std::vector<formats::WeightFile> files() const override { return {}; }

 private:
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace alate::tests
