#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "alate/error.h"
#include "base/files/contained_files.h"
#include "exchange/onnx/message_fields.h"
#include "exchange/onnx_file.h"
#include "formats/json.h"
#include "formats/protobuf_reader.h"

namespace alate::exchange {
namespace {

using formats::ProtobufField;
using formats::ProtobufReader;
using Message = std::span<const std::byte>;

// Message kinds that may contain tensors: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
enum class MessageKind { model, training, function, graph, node, attribute, sparse_tensor, tensor };

struct Place {
  MessageKind in;
  std::uint32_t field;
  MessageKind holds;
  bool is_single = false;  // protobuf merges duplicates, each of which could look harmless
};
constexpr std::array kPlaces = std::to_array<Place>({
    {MessageKind::model, 7, MessageKind::graph, true},
    {MessageKind::model, 20, MessageKind::training},
    {MessageKind::model, 25, MessageKind::function},
    {MessageKind::training, 1, MessageKind::graph, true},
    {MessageKind::training, 2, MessageKind::graph, true},
    {MessageKind::function, 7, MessageKind::node},
    {MessageKind::function, 11, MessageKind::attribute},
    {MessageKind::graph, onnx::graph_field::kNode, MessageKind::node},
    {MessageKind::graph, onnx::graph_field::kInitializer, MessageKind::tensor},
    {MessageKind::graph, 15, MessageKind::sparse_tensor},
    {MessageKind::node, onnx::node_field::kAttribute, MessageKind::attribute},
    {MessageKind::attribute, 5, MessageKind::tensor, true},
    {MessageKind::attribute, 6, MessageKind::graph, true},
    {MessageKind::attribute, 10, MessageKind::tensor},
    {MessageKind::attribute, 11, MessageKind::graph},
    {MessageKind::attribute, 22, MessageKind::sparse_tensor, true},
    {MessageKind::attribute, 23, MessageKind::sparse_tensor},
    {MessageKind::sparse_tensor, 1, MessageKind::tensor, true},
    {MessageKind::sparse_tensor, 2, MessageKind::tensor, true},
});

// Bits per element by TensorProto.DataType; 0: unknown, or of no fixed size.
constexpr std::array<std::uint8_t, 24> kBits = {0,  32, 8,  8,   16, 16, 32, 64, 0, 8, 16, 64,
                                                32, 64, 64, 128, 16, 8,  8,  8,  8, 4, 4,  4};
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
constexpr std::size_t kMostDims = 64;  // an external tensor's dims are few, but the format does not bound them

std::optional<std::uint64_t> product(std::span<const std::uint64_t> dims, std::uint64_t bits) {
  std::uint64_t total = bits;
  for (const std::uint64_t dim : dims) {
    if (dim == 0) return 0;
    if (total > kMaxBytes / dim) return std::nullopt;
    total *= dim;
  }
  return total / 8 + (total % 8 != 0 ? 1 : 0);
}

class Walk {
 public:
  std::vector<ExternalTensor> take() { return std::move(found_); }

  void visit(MessageKind kind, Message message, std::size_t depth) {
    if (depth > kMaxOnnxDepth)
      throw make_error(ErrorCode::resource_exhausted, "its messages lie in each other more than ", kMaxOnnxDepth,
                       " deep");
    if (kind == MessageKind::tensor) return visit_tensor(message);
    ProtobufReader reader(message);
    ProtobufField field;
    std::uint32_t seen = 0;  // bit set of single fields, whose numbers are below 32
    while (reader.next(field)) {
      if (field.kind != ProtobufField::Kind::bytes) continue;
      if (kind == MessageKind::node && field.number == onnx::node_field::kOpType) check_op(field.text());
      const auto* const place =
          std::ranges::find_if(kPlaces, [&](const Place& row) { return row.in == kind && row.field == field.number; });
      if (place == kPlaces.end()) continue;
      if (place->is_single && (seen >> place->field & 1) != 0)
        throw make_error(ErrorCode::corrupt, "it has field ", place->field, " of a message twice");
      if (place->is_single) seen |= 1U << place->field;
      visit(place->holds, field.bytes, depth + 1);
    }
  }

 private:
  static void check_op(std::string_view op) {
    if (op == "EPContext")
      throw Error(ErrorCode::unsupported,
                  "it has a node EPContext, which is code for one accelerator; use the model that it was made of: "
                  "EPContext");
  }

  void visit_tensor(Message message) {
    ProtobufReader reader(message);
    ProtobufField field;
    ExternalTensor tensor;
    std::vector<std::uint64_t> dims;
    std::vector<Message> entries;
    std::uint64_t dtype = 0;
    bool is_external = false;
    while (reader.next(field)) {
      const bool is_bytes = field.kind == ProtobufField::Kind::bytes;
      switch (field.number) {
        case onnx::tensor_field::kDims: formats::append_varints(field, dims, kMostDims); break;
        case onnx::tensor_field::kDataType: dtype = field.integer; break;
        case onnx::tensor_field::kName:
          if (is_bytes) tensor.name = std::string(field.text().substr(0, base::kMaxNamePartBytes));
          break;
        case onnx::tensor_field::kExternalData:
          if (is_bytes) entries.push_back(field.bytes);
          break;
        case onnx::tensor_field::kDataLocation: is_external = is_external || field.integer != 0; break;
        default: break;
      }
    }
    if (!is_external && entries.empty()) return;
    if (found_.size() == kMaxExternalTensors)
      throw make_error(ErrorCode::resource_exhausted, "it has more than ", kMaxExternalTensors,
                       " tensors in other files");
    try {
      read_entries(entries, tensor);
    } catch (const Error& error) {
      throw make_error(error.code(), "tensor ", formats::quoted_name(tensor.name), ": ", error.message());
    }
    if (const std::uint64_t bits = dtype < kBits.size() ? kBits[dtype] : 0; bits != 0) {
      tensor.bytes = product(dims, bits);
      if (!tensor.bytes)
        throw make_error(ErrorCode::corrupt, "tensor ", formats::quoted_name(tensor.name),
                         " has dims that fit in no file");
    }
    found_.push_back(std::move(tensor));
  }

  static std::uint64_t number(std::string_view key, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > kMaxBytes)
      throw make_error(ErrorCode::corrupt, key, " of its external data is ", formats::quoted_name(text),
                       ", which is no number of bytes");
    return value;
  }

  // StringStringEntryProto: key 1, value 2.
  static std::pair<std::string_view, std::string_view> entry(Message message) {
    std::array<std::optional<std::string_view>, 2> texts;
    ProtobufReader reader(message);
    ProtobufField field;
    while (reader.next(field)) {
      if (field.kind != ProtobufField::Kind::bytes || field.number > 2) continue;
      if (texts[field.number - 1]) throw Error(ErrorCode::corrupt, "its external data has a key or a value twice");
      texts[field.number - 1] = field.text();
    }
    return {texts[0].value_or(""), texts[1].value_or("")};
  }

  static void read_entries(std::span<const Message> entries, ExternalTensor& tensor) {
    constexpr std::size_t kMostEntries = 16;
    if (entries.size() > kMostEntries)
      throw make_error(ErrorCode::corrupt, "its external data has more than ", kMostEntries, " entries");
    std::vector<std::string_view> keys;
    for (const Message message : entries) {
      const auto [key, value] = entry(message);
      if (std::ranges::find(keys, key) != keys.end())
        throw make_error(ErrorCode::corrupt, "its external data has ", formats::quoted_name(key), " twice");
      keys.push_back(key);
      if (key == "location") {
        if (!base::is_plain_relative_path(value))
          throw make_error(ErrorCode::corrupt, "its external data is in ", formats::quoted_name(value),
                           ", which is no name of a file in the model's folder");
        tensor.location = std::string(value);
      } else if (key == "offset") {
        tensor.offset = number(key, value);
      } else if (key == "length") {
        tensor.length = number(key, value);
      }
    }
    if (tensor.location.empty())
      throw Error(ErrorCode::corrupt, "it says that its data is in another file, and not in which");
  }

  std::vector<ExternalTensor> found_;
};

}  // namespace

std::vector<ExternalTensor> external_tensors(std::span<const std::byte> model) {
  Walk walk;
  walk.visit(MessageKind::model, model, 0);
  return walk.take();
}

}  // namespace alate::exchange
