#include "formats/pytorch/checkpoint.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/little_endian.h"
#include "formats/pytorch/pickle.h"
#include "formats/utf8.h"
#include "formats/zip_reader.h"

namespace alate::formats {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = PickleValue::Kind;

constexpr std::size_t kMostRank = 16;
constexpr std::string_view kTensor = "torch._utils _rebuild_tensor", kTensor2 = "torch._utils _rebuild_tensor_v2",
                           kParameter = "torch._utils _rebuild_parameter";

struct StorageType {
  std::string_view global;
  std::optional<DType> dtype;  // absent: Alate lacks it
};
constexpr std::array<StorageType, 13> kStorages = {{{"torch FloatStorage", DType::f32},
                                                    {"torch HalfStorage", DType::f16},
                                                    {"torch BFloat16Storage", DType::bf16},
                                                    {"torch DoubleStorage", DType::f64},
                                                    {"torch LongStorage", DType::i64},
                                                    {"torch IntStorage", DType::i32},
                                                    {"torch ShortStorage", DType::i16},
                                                    {"torch CharStorage", DType::i8},
                                                    {"torch ByteStorage", DType::u8},
                                                    {"torch BoolStorage", DType::boolean},
                                                    {"torch ComplexFloatStorage", DType::c64},
                                                    {"torch ComplexDoubleStorage", DType::c128},
                                                    {"torch QInt8Storage", std::nullopt}}};

constexpr auto kGlobals = [] {
  std::array<std::string_view, kStorages.size() + 3> globals = {kTensor, kTensor2, kParameter};
  for (std::size_t i = 0; i < kStorages.size(); ++i) globals[3 + i] = kStorages[i].global;
  return globals;
}();

/// Where the bytes of storages are, by key.
class Storages {
 public:
  virtual ~Storages() = default;
  Storages(const Storages&) = delete;
  Storages& operator=(const Storages&) = delete;

  struct Range {
    std::size_t begin = 0, end = 0;
  };
  virtual std::optional<Range> find(std::string_view key) const = 0;

 protected:
  Storages() = default;
};

class TensorReader {
 public:
  TensorReader(const Pickle& pickle, const Storages& storages, std::size_t file_bytes, std::string_view what)
      : pickle_(pickle), storages_(storages), file_bytes_(file_bytes), what_(what) {}

  Checkpoint read() {
    const PickleValue* dict = &pickle_[pickle_.root];
    if (dict->kind == Kind::dict) {
      if (const PickleValue* inner = find(*dict, "state_dict"); inner != nullptr && inner->kind == Kind::dict)
        dict = inner;
    }
    if (dict->kind != Kind::dict)
      throw make_error(ErrorCode::unsupported, what_,
                       " holds no dict of tensors; save the model's state_dict() as safetensors: pickle");
    std::map<std::string, CheckpointTensor, std::less<>> named;  // of equal keys the last one counts, as in Python
    for (std::size_t i = 0; i < dict->items.size(); i += 2) {
      const PickleValue &key = pickle_[dict->items[i]], &value = pickle_[dict->items[i + 1]];
      if (key.kind != Kind::text || !is_tensor(value)) continue;
      if (valid_utf8_prefix(key.text) < key.text.size()) refuse("the name of a tensor", "is no UTF-8");
      CheckpointTensor tensor = read_tensor(value, quoted_name(key.text), 0);
      tensor.name = key.text;
      named.insert_or_assign(tensor.name, std::move(tensor));
    }
    Checkpoint checkpoint;
    checkpoint.tensors.reserve(named.size());
    for (auto& [name, tensor] : named) checkpoint.tensors.push_back(std::move(tensor));
    std::ranges::stable_sort(checkpoint.tensors, {},
                             [](const CheckpointTensor& tensor) { return std::tuple(tensor.begin, tensor.end); });
    require_file_bytes(checkpoint.tensors);
    return checkpoint;
  }

 private:
  // Tensors may share bytes, and each of them becomes a weight of its own: a small file would fill the memory. Those
  // that are one tensor under several names (tied weights) count once.
  void require_file_bytes(const std::vector<CheckpointTensor>& tensors) const {
    using Place = std::tuple<std::size_t, DType, std::vector<std::int64_t>, std::vector<std::int64_t>>;
    std::set<Place> seen;
    std::size_t bytes = 0;
    for (const CheckpointTensor& tensor : tensors) {
      std::vector<std::int64_t> extents;
      for (const auto& dim : tensor.shape.dims) extents.push_back(dim.number());
      if (!seen.emplace(tensor.begin, tensor.shape.dtype, std::move(extents), tensor.strides).second) continue;
      const std::size_t own = tensor.shape.byte_count();
      if (own > file_bytes_ - bytes)
        throw make_error(ErrorCode::corrupt, what_, ": its tensors share bytes: up to ", quoted_name(tensor.name),
                         " they would take more than the ", file_bytes_,
                         " bytes of the file; save each tensor by itself (clone it), or the weights as safetensors");
      bytes += own;
    }
  }

  [[noreturn]] void refuse(std::string_view tensor, std::string_view reason) const {
    throw make_error(ErrorCode::corrupt, what_, ": ", tensor, " ", reason);
  }

  const PickleValue* find(const PickleValue& dict, std::string_view key) const {
    for (std::size_t i = 0; i < dict.items.size(); i += 2) {
      const PickleValue& name = pickle_[dict.items[i]];
      if (name.kind == Kind::text && name.text == key) return &pickle_[dict.items[i + 1]];
    }
    return nullptr;
  }

  std::string_view callee(const PickleValue& object) const { return pickle_[object.items[0]].text; }
  bool is_tensor(const PickleValue& value) const {
    return value.kind == Kind::object &&
           (callee(value) == kTensor || callee(value) == kTensor2 || callee(value) == kParameter);
  }

  // _rebuild_parameter(tensor, …), _rebuild_tensor(storage, offset, extents, strides), and _v2 with more that do not
  // matter here.
  CheckpointTensor read_tensor(const PickleValue& object, const std::string& name, std::size_t depth) const {
    const std::vector<std::uint32_t>& arguments = pickle_[object.items[1]].items;
    if (callee(object) == kParameter) {
      if (depth > 0 || arguments.empty() || !is_tensor(pickle_[arguments[0]]))
        refuse(name, "is a parameter of nothing");
      return read_tensor(pickle_[arguments[0]], name, depth + 1);
    }
    if (arguments.size() < 4) refuse(name, "is made of too little");
    const auto [dtype, storage] = read_storage(pickle_[arguments[0]], name);
    const std::int64_t offset = integer(pickle_[arguments[1]], name);
    const std::vector<std::int64_t> extents = integers(pickle_[arguments[2]], name);
    std::vector<std::int64_t> strides = integers(pickle_[arguments[3]], name);
    if (extents.size() != strides.size() || extents.size() > kMostRank) refuse(name, "has extents that are none");
    return place(name, dtype, storage, offset, extents, std::move(strides));
  }

  std::int64_t integer(const PickleValue& value, const std::string& name) const {
    // No file has storages of 2^48 elements; sums and products of a few such numbers are tested below.
    if (value.kind != Kind::integer || !value.text.empty() || value.integer < 0 || value.integer >> 48 != 0)
      refuse(name, "has an extent, stride or offset that is none");
    return value.integer;
  }
  std::vector<std::int64_t> integers(const PickleValue& value, const std::string& name) const {
    if (value.kind != Kind::tuple && value.kind != Kind::list) refuse(name, "has extents that are no tuple");
    if (value.items.size() > kMostRank) refuse(name, "has more dimensions than a tensor of a model");
    std::vector<std::int64_t> numbers;
    for (const std::uint32_t item : value.items) numbers.push_back(integer(pickle_[item], name));
    return numbers;
  }

  // ("storage", type, key, place, count, …)
  std::pair<DType, Storages::Range> read_storage(const PickleValue& value, const std::string& name) const {
    if (value.kind != Kind::persistent) refuse(name, "has no storage");
    const PickleValue& id = pickle_[value.items[0]];
    if (id.kind != Kind::tuple || id.items.size() < 5 || pickle_[id.items[0]].text != "storage" ||
        pickle_[id.items[2]].kind != Kind::text)
      refuse(name, "has a storage that is none");
    if (id.items.size() > 5 && pickle_[id.items[5]].kind != Kind::none)
      throw make_error(ErrorCode::unsupported, what_, ": ", name, " is a view, as torch before 0.4 wrote it; ",
                       "save the weights as safetensors: pickle");
    const std::string_view global = pickle_[id.items[1]].text;
    const auto* type = std::ranges::find(kStorages, global, &StorageType::global);
    if (type == kStorages.end()) refuse(name, "has a storage of no type");
    if (!type->dtype)
      throw make_error(ErrorCode::unsupported, what_, ": ", name, " is a ", global,
                       ", a type that is not computed here: ", global);
    const std::optional<Storages::Range> range = storages_.find(pickle_[id.items[2]].text);
    if (!range) refuse(name, "has its storage not in the file; is it whole?");
    return {*type->dtype, *range};
  }

  CheckpointTensor place(const std::string& name, DType dtype, const Storages::Range& storage, std::int64_t offset,
                         const std::vector<std::int64_t>& extents, std::vector<std::int64_t> strides) const {
    const auto size = static_cast<std::int64_t>(bytes_for(dtype, 1));
    const std::int64_t room = static_cast<std::int64_t>(storage.end - storage.begin) / size - offset;
    // Elements that share storage would let a small file fill the memory.
    const bool is_empty = std::ranges::find(extents, 0) != extents.end();
    if (room < (is_empty ? 0 : 1)) refuse_size(name);
    std::int64_t elements = 1, farthest = 0;
    bool is_row_by_row = true;
    for (std::size_t axis = is_empty ? 0 : extents.size(); axis > 0; --axis) {
      const std::int64_t extent = extents[axis - 1], stride = strides[axis - 1];
      if (extent == 1) continue;
      is_row_by_row = is_row_by_row && stride == elements;
      if (elements > room / extent || stride > room / (extent - 1)) refuse_size(name);
      elements *= extent;
      farthest += (extent - 1) * stride;
    }
    if (farthest >= std::max<std::int64_t>(room, 1)) refuse_size(name);
    CheckpointTensor tensor{.name = {}, .shape = {dtype, {extents.begin(), extents.end()}}, .strides = {}};
    tensor.begin = storage.begin + static_cast<std::size_t>(offset * size);
    tensor.end = tensor.begin + (is_empty ? 0 : static_cast<std::size_t>((farthest + 1) * size));
    if (!is_row_by_row) tensor.strides = std::move(strides);
    return tensor;
  }
  [[noreturn]] void refuse_size(const std::string& name) const {
    refuse(name, "has more elements than its storage in the file");
  }

  const Pickle& pickle_;
  const Storages& storages_;
  std::size_t file_bytes_;
  std::string_view what_;
};

// "NAME/data.pkl", "NAME/data/KEY", "NAME/byteorder".
class ArchiveStorages final : public Storages {
 public:
  ArchiveStorages(Bytes file, std::string_view what) : entries_(list_zip(file, what)) {
    std::ranges::sort(entries_, {}, &ZipEntry::name);
    const auto pickle = std::ranges::find_if(entries_, [](const ZipEntry& entry) {
      return entry.name == "data.pkl" ||
             (entry.name.ends_with("/data.pkl") && std::ranges::count(entry.name, '/') == 1);
    });
    if (pickle == entries_.end())
      throw make_error(ErrorCode::unsupported, what, ": the zip archive has no data.pkl: torch.save did not write it");
    folder_ = pickle->name.substr(0, pickle->name.size() - std::string_view("data.pkl").size());
    pickle_ = content(file, *pickle, what);
    if (const ZipEntry* order = entry(folder_ + "byteorder")) {
      const Bytes text = content(file, *order, what);
      if (std::string_view(reinterpret_cast<const char*>(text.data()), text.size()) != "little")
        throw make_error(ErrorCode::unsupported, what, ": its numbers are not little-endian; save it as safetensors");
    }
    for (const ZipEntry& each : entries_) {
      if (each.name.starts_with(folder_ + "data/")) (void)content(file, each, what);
    }
  }

  Bytes pickle() const { return pickle_; }
  std::optional<Range> find(std::string_view key) const override {
    const ZipEntry* found = entry(folder_ + "data/" + std::string(key));
    if (found == nullptr) return std::nullopt;
    return Range{found->begin, found->end};
  }

 private:
  // Nothing is compressed by torch.save.
  static Bytes content(Bytes file, const ZipEntry& entry, std::string_view what) {
    if (entry.deflated)
      throw make_error(ErrorCode::unsupported, what, ": the zip archive is compressed, so that its tensors cannot be ",
                       "mapped; save them as safetensors");
    return file.subspan(entry.begin, entry.end - entry.begin);
  }
  const ZipEntry* entry(std::string_view name) const {
    const auto found = std::ranges::lower_bound(entries_, name, {},
                                                [](const ZipEntry& entry) { return std::string_view(entry.name); });
    return found == entries_.end() || found->name != name ? nullptr : &*found;
  }

  std::vector<ZipEntry> entries_;  // sorted by name
  std::string folder_;             // with its slash
  Bytes pickle_;
};

// Of torch before 1.6: pickles of a magic number, a version, facts about the system, the dict, and the storages' keys;
// then each storage's number of elements and its elements.
class SequentialStorages final : public Storages {
 public:
  SequentialStorages(Bytes file, std::string_view what) : what_(what) {
    Bytes left = file;
    const auto next = [&](std::span<const std::string_view> globals) {
      Pickle pickle = parse_pickle(left, globals, what);
      left = left.subspan(pickle.byte_count);
      return pickle;
    };
    for (int i = 0; i < 3; ++i) (void)next({});
    pickle_ = next(kGlobals);
    const std::map<std::string_view, std::size_t> sizes = element_sizes();
    const Pickle keys = next({});
    for (const std::uint32_t item : keys[keys.root].items) {
      const PickleValue& key = keys[item];
      const auto size = sizes.find(key.text);
      if (key.kind != Kind::text || size == sizes.end()) refuse("a storage is not used by any tensor");
      if (left.size() < sizeof(std::uint64_t)) refuse("it ends before its tensors");
      const std::uint64_t count = load_little_endian<std::uint64_t>(left);
      left = left.subspan(sizeof(std::uint64_t));
      if (count > left.size() / size->second) refuse("it ends before its tensors");
      const std::size_t begin = file.size() - left.size(), bytes = static_cast<std::size_t>(count) * size->second;
      ranges_.emplace(key.text, Range{begin, begin + bytes});
      left = left.subspan(bytes);
    }
  }

  const Pickle& pickle() const { return pickle_; }
  std::optional<Range> find(std::string_view key) const override {
    const auto found = ranges_.find(key);
    if (found == ranges_.end()) return std::nullopt;
    return found->second;
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw make_error(ErrorCode::corrupt, what_, ": ", reason, "; is it whole?");
  }

  // Bytes of an element, by the storage's key.
  std::map<std::string_view, std::size_t> element_sizes() const {
    std::map<std::string_view, std::size_t> sizes;
    for (const PickleValue& value : pickle_.values) {
      if (value.kind != Kind::persistent) continue;
      const std::vector<std::uint32_t>& id = pickle_[value.items[0]].items;
      if (id.size() < 3) continue;
      const auto* type = std::ranges::find(kStorages, pickle_[id[1]].text, &StorageType::global);
      if (type != kStorages.end() && type->dtype) sizes.emplace(pickle_[id[2]].text, bytes_for(*type->dtype, 1));
    }
    return sizes;
  }

  std::string_view what_;
  Pickle pickle_;
  std::map<std::string, Range, std::less<>> ranges_;
};

constexpr std::array kZipStart = {std::byte{'P'}, std::byte{'K'}};
// A pickle of protocol 2 with the integer 0x1950a86a20f9469cfc6c.
constexpr std::array kMagic = {std::byte{0x80}, std::byte{2},    std::byte{0x8A}, std::byte{10},   std::byte{0x6C},
                               std::byte{0xFC}, std::byte{0x9C}, std::byte{0x46}, std::byte{0xF9}, std::byte{0x20},
                               std::byte{0x6A}, std::byte{0xA8}, std::byte{0x50}, std::byte{0x19}, std::byte{'.'}};

bool starts_with(Bytes file, Bytes start) {
  return file.size() >= start.size() && std::ranges::equal(file.first(start.size()), start);
}

}  // namespace

Checkpoint parse_checkpoint(Bytes file, std::string_view what) {
  if (starts_with(file, kZipStart)) {
    const ArchiveStorages storages(file, what);
    const Pickle pickle = parse_pickle(storages.pickle(), kGlobals, what);
    return TensorReader(pickle, storages, file.size(), what).read();
  }
  if (starts_with(file, kMagic)) {
    const SequentialStorages storages(file, what);
    return TensorReader(storages.pickle(), storages, file.size(), what).read();
  }
  throw make_error(ErrorCode::unsupported, what, " is no file of torch.save; save the weights as safetensors: pickle");
}

}  // namespace alate::formats
