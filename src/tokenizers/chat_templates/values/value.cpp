#include "tokenizers/chat_templates/values/value.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "alate/error.h"
#include "tokenizers/chat_templates/values/object.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

constexpr std::size_t kFewEntries = 8;

std::shared_ptr<Sequence> new_sequence(Budget& budget, Values items) {
  int deepest = 0;
  for (const Value& item : items) deepest = std::max(deepest, depth_of(item));
  Charge charge(budget, sizeof(Sequence) + items.size() * sizeof(Value));
  return std::make_shared<Sequence>(
      Sequence{.items = std::move(items), .depth = deeper_than(deepest), .charge = std::move(charge)});
}

}  // namespace

Mapping::Mapping(Entries entries, Charge charge) : entries_(std::move(entries)), charge_(std::move(charge)) {
  int deepest = 0;
  for (const auto& [key, value] : entries_) deepest = std::max({deepest, depth_of(key), depth_of(value)});
  depth_ = deeper_than(deepest);
  if (entries_.size() <= kFewEntries) return;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first.is_text()) by_key_.push_back(static_cast<std::uint32_t>(i));
  }
  std::ranges::sort(by_key_, {}, [&](std::uint32_t i) { return entries_[i].first.bytes(); });
}

const Value* Mapping::find(std::string_view key) const {
  if (!by_key_.empty()) {
    const auto found =
        std::ranges::lower_bound(by_key_, key, {}, [&](std::uint32_t i) { return entries_[i].first.bytes(); });
    if (found == by_key_.end() || entries_[*found].first.bytes() != key) return nullptr;
    return &entries_[*found].second;
  }
  if (entries_.size() > kFewEntries) return nullptr;
  for (const auto& [name, value] : entries_) {
    if (name.is_text() && name.bytes() == key) return &value;
  }
  return nullptr;
}

const Value* Mapping::find(Rendering& run, const Value& key) const {
  if (key.is_text()) {
    run.budget().work(key.bytes().size() / 8);
    return find(key.bytes());
  }
  run.budget().work(entries_.size());
  for (const auto& [name, value] : entries_) {
    if (!name.is_text() && equals(run, name, key)) return &value;
  }
  return nullptr;
}

int deeper_than(int deepest) {
  if (deepest >= kMaxValueDepth) {
    throw make_error(ErrorCode::resource_exhausted, "a value in the chat template nests deeper than ", kMaxValueDepth,
                     " lists and dicts");
  }
  return deepest + 1;
}

int depth_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::sequence: return value.sequence().depth;
    case Value::Kind::mapping: return value.mapping().depth();
    case Value::Kind::object: return value.object().depth();
    default: return 0;
  }
}

Value constant_text(std::string bytes) {
  const std::size_t length = count_code_points(bytes);
  return Value(std::shared_ptr<const Text>(new Text{.bytes = std::move(bytes), .length = length, .charge = {}}));
}

Value make_text(Budget& budget, std::string bytes, bool is_markup) {
  Charge charge(budget, sizeof(Text) + bytes.size());
  const std::size_t length = count_code_points(bytes);
  return Value(std::shared_ptr<const Text>(
      new Text{.bytes = std::move(bytes), .length = length, .is_markup = is_markup, .charge = std::move(charge)}));
}

Value make_undefined(Budget& budget, std::string message) {
  Charge charge(budget, message.size());
  return Value::undefined(std::move(message), std::move(charge));
}

Value make_list(Budget& budget, Values items) {
  return Value(std::shared_ptr<const Sequence>(new_sequence(budget, std::move(items))));
}

Value make_tuple(Budget& budget, Values items) {
  const std::shared_ptr<Sequence> tuple = new_sequence(budget, std::move(items));
  tuple->is_tuple = true;
  return Value(std::shared_ptr<const Sequence>(tuple));
}

Value make_group(Budget& budget, Value grouper, Value list) {
  Values items;
  items.push_back(std::move(grouper));
  items.push_back(std::move(list));
  const std::shared_ptr<Sequence> tuple = new_sequence(budget, std::move(items));
  tuple->is_tuple = tuple->is_group = true;
  return Value(std::shared_ptr<const Sequence>(tuple));
}

Value make_mapping(Budget& budget, Entries entries) {
  Charge charge(budget, sizeof(Mapping) + entries.size() * (2 * sizeof(Value) + sizeof(std::uint32_t)));
  std::uint64_t key_bytes = 0;  // are compared to put them in order
  for (const auto& [key, value] : entries) key_bytes += key.is_text() ? key.bytes().size() : 0;
  budget.work(key_bytes / 8);
  return Value(std::make_shared<const Mapping>(std::move(entries), std::move(charge)));
}

struct MappingBuilder::Places {
  std::map<std::string_view, std::size_t> of_texts;  // the texts are those of the entries
  std::vector<std::size_t> of_others;
};

MappingBuilder::MappingBuilder(Rendering& run) : run_(run) {}
MappingBuilder::~MappingBuilder() = default;

void MappingBuilder::set(std::string_view key, Value value) {
  set(make_text(run_.budget(), std::string(key)), std::move(value));
}

void MappingBuilder::set(const Value& key, Value value) {
  if (key.is_text()) {
    if (places_ == nullptr) places_ = std::make_unique<Places>();
    run_.budget().work(1 + key.bytes().size() / 8);
    const auto [place, is_new] = places_->of_texts.emplace(key.bytes(), entries_.size());
    if (is_new) {
      entries_.emplace_back(key, std::move(value));
    } else {
      entries_[place->second].second = std::move(value);
    }
    return;
  }
  require_hashable(run_, key);
  if (places_ == nullptr) places_ = std::make_unique<Places>();
  run_.budget().work(places_->of_others.size() + 1);
  for (const std::size_t place : places_->of_others) {
    if (equals(run_, entries_[place].first, key)) {
      entries_[place].second = std::move(value);
      return;
    }
  }
  places_->of_others.push_back(entries_.size());
  entries_.emplace_back(key, std::move(value));
}

void MappingBuilder::set_all(const Mapping& other) {
  for (const auto& [key, value] : other.entries()) set(key, value);
}

bool MappingBuilder::add(const Value& key) {
  const std::size_t before = entries_.size();
  set(key, Value::none());
  return entries_.size() > before;
}

Value MappingBuilder::take() {
  places_ = nullptr;
  return make_mapping(run_.budget(), std::move(entries_));
}

}  // namespace alate::tokenizers::chat_templates
