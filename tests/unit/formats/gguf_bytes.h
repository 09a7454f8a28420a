// Writes GGUF files for tests, field by field, whole or broken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_value.h"
#include "formats/little_endian.h"

namespace alate::formats {

class GgufBytes {
 public:
  std::uint32_t version = 3;

  template <std::unsigned_integral Integer>
  static std::string number(Integer value) {
    std::string bytes;
    append_little_endian(bytes, value);
    return bytes;
  }
  static std::string string(std::string_view text) { return number(std::uint64_t{text.size()}) + std::string(text); }
  static std::string type_of(GgufType type) { return number(static_cast<std::uint32_t>(type)); }
  /// The value of an array: its elements' bytes behind their type and number.
  static std::string array(GgufType type, std::size_t count, std::string_view elements) {
    return type_of(type) + number(std::uint64_t{count}) + std::string(elements);
  }
  static std::string strings(const std::vector<std::string>& texts) {
    std::string elements;
    for (const std::string& text : texts) elements += string(text);
    return array(GgufType::string, texts.size(), elements);
  }

  GgufBytes& add(std::string_view key, GgufType type, std::string_view value) {
    metadata_ += string(key) + type_of(type) + std::string(value);
    ++entries_;
    return *this;
  }
  GgufBytes& add_text(std::string_view key, std::string_view text) { return add(key, GgufType::string, string(text)); }
  GgufBytes& add_u32(std::string_view key, std::uint32_t value) { return add(key, GgufType::u32, number(value)); }
  GgufBytes& add_bool(std::string_view key, bool value) {
    return add(key, GgufType::boolean, std::string(1, value ? '\1' : '\0'));
  }
  /// `dims` in the file's order, the contiguous one first.
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                    std::uint64_t offset) {
    tensors_ += string(name) + number(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) tensors_ += number(dim);
    tensors_ += number(type) + number(offset);
    ++tensor_count_;
    return *this;
  }

  /// Header, padding to `alignment`, data.
  std::string bytes(std::string_view data = {}, std::size_t alignment = 32) const {
    std::string file = "GGUF" + number(version) + number(tensor_count_) + number(entries_) + metadata_ + tensors_;
    if (!data.empty()) file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
    return file + std::string(data);
  }

 private:
  std::string metadata_, tensors_;
  std::uint64_t entries_ = 0, tensor_count_ = 0;
};

}  // namespace alate::formats
