#include "tests/conformance/random/random_nodes.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "alate/error.h"
#include "graph/infer.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/cases/regions.h"
#include "tests/conformance/cases/sequences.h"
#include "tests/conformance/cases/values.h"
#include "tests/conformance/random/dim_namer.h"

namespace alate::conformance {
namespace {

using graph::Op;
using graph::Value;

constexpr std::int64_t kMostElements = 600;
constexpr std::size_t kMaxBytes = 1024;  // of inputs and constants: so many are printed
constexpr std::size_t kMostOutputs = 6;

[[noreturn]] void give_up(std::string_view why) { throw make_error(ErrorCode::invalid_argument, why); }

bool holds_tokens_or_text(DType dtype) { return bits_of(dtype) == 0; }

// The small cases of an op, as the suite's generators give them.
const Cases& small_cases(const graph::OpInfo& op, DType dtype) {
  static std::map<std::pair<Op, DType>, Cases> all;
  const auto [found, is_new] = all.try_emplace({op.op, dtype});
  if (is_new) {
    found->second = cases_of(op, dtype, 1, kMostElements);
    std::erase_if(found->second, [](const Case& subject) { return elements_of(subject) > kMostElements; });
  }
  return found->second;
}

const std::vector<const graph::OpInfo*>& chosen_ops(bool elementwise) {
  static const auto list = [](bool wanted) {
    std::vector<const graph::OpInfo*> ops;
    for (const graph::OpInfo& op : graph::all_ops()) {
      const bool has_region_of_its_own = op.op == Op::while_loop || op.op == Op::if_else || op.op == Op::call;
      if (op.kind != graph::OpKind::leaf && !has_region_of_its_own && op.has(graph::kElementwise) == wanted)
        ops.push_back(&op);
    }
    return ops;
  };
  static const auto simple = list(true), others = list(false);
  return elementwise ? simple : others;
}

// Values that keep chains of ops within bounds.
ValueKind calm(const Operand& operand, Random& random) {
  const DType dtype = operand.shape.dtype;
  const std::string& name = operand.values.name;
  if (!is_computed_float(dtype) && !is_complex(dtype)) return operand.values;
  if (name == "units" || name == "ones" || name == "signs") return operand.values;
  if (name == "specials" && random() % 4 == 0) return operand.values;
  if (random() % 3 == 0) return {"exact"};
  return {name == "positive" ? "positive" : random() % 2 == 0 ? "numbers" : "units"};
}

graph::Numbers counting(std::size_t count) {
  graph::Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

RandomNodes::RandomNodes(std::string name, Random& random) : random_(random), b_(std::move(name)) {}

RandomNodes::RandomNodes(std::string name, RandomNodes& parent, std::span<const std::size_t> operands)
    : random_(parent.random_), is_region_(true), b_(std::move(name), parent.b_.dims()) {
  for (const std::size_t i : operands) {
    const Value value = b_.parameter("x" + std::to_string(known_.size()), parent.b_.shape(parent.known_[i].value));
    known_.push_back({value, parent.known_[i].tracked});
  }
}

void RandomNodes::add() {
  try {
    const std::size_t kind = pick(100);
    if (kind < 3) {
      add_repeated();
    } else if (kind < 45) {
      add_elementwise();
    } else if (kind < 90 || is_region_ || known_.empty()) {
      add_case();
    } else if (kind < 94) {
      add_call();
    } else if (kind < 97) {
      add_if();
    } else {
      add_while();
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::resource_exhausted) throw;
  }
}

void RandomNodes::add_elementwise() {
  const std::vector<const graph::OpInfo*>& ops = chosen_ops(true);
  const graph::OpInfo& op = *ops[pick(ops.size())];
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (graph::contains(op.dtypes, b_.shape(known_[i].value).dtype)) firsts.push_back(i);
  }
  if (firsts.empty()) return add_case();
  const std::size_t first = firsts[std::max(pick(firsts.size()), pick(firsts.size()))];  // rather a late one
  const Shape shape = b_.shape(known_[first].value);
  std::vector<std::size_t> operands = {first};
  while (operands.size() < op.min_operands) operands.push_back(of_shape(shape));
  if (op.op == Op::select) operands[0] = of_shape({DType::boolean, happens(80) ? shape.dims : graph::Dims()});
  if (operands.size() == 2 && happens(50)) std::swap(operands[0], operands[1]);
  graph::Attributes attributes;
  if (op.op == Op::convert) {
    DType to = DType::token;
    while (holds_tokens_or_text(to)) to = all_dtypes()[pick(all_dtypes().size())];
    attributes = graph::Convert{to};
  } else if (op.op == Op::gelu) {
    attributes = graph::Gelu{happens(50)};
  }
  emit(op.op, operands, attributes);
}

void RandomNodes::add_case() {
  const std::vector<const graph::OpInfo*>& ops = chosen_ops(happens(10));
  const graph::OpInfo& op = *ops[pick(ops.size())];
  DType dtype = DType::token;
  if (!known_.empty() && happens(70)) dtype = b_.shape(known_[pick(known_.size())].value).dtype;
  while (!graph::contains(op.dtypes, dtype)) dtype = all_dtypes()[pick(all_dtypes().size())];
  const Cases& cases = small_cases(op, dtype);
  if (cases.empty()) return;
  Case subject = cases[pick(cases.size())];
  subject.seed = random_() % 1000000;
  std::vector<std::size_t> operands;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < subject.operands.size(); ++i) {
    operands.push_back(operand_for(subject, i));
    shapes.push_back(b_.shape(known_[operands.back()].value));
  }
  graph::Attributes attributes = subject.attributes;
  DimNamer(b_.dims()).apply(attributes);
  std::vector<graph::Region> regions;
  for (const std::string& region : subject.regions) regions.push_back(make_region(region, subject, shapes, b_.dims()));
  emit(subject.op, operands, attributes, regions);
}

std::vector<std::size_t> RandomNodes::region_operands() {
  std::vector<std::size_t> operands(1 + pick(3));
  for (std::size_t& operand : operands) operand = pick(known_.size());
  return operands;
}

// Past registers and tiles, which the cases' shapes are below.
void RandomNodes::add_repeated() {
  if (known_.empty()) return;
  const std::size_t known = pick(known_.size());
  const Shape& shape = b_.shape(known_[known].value);
  graph::BroadcastInDim attributes{shape.dims, counting(shape.rank())};
  if (happens(50)) {
    attributes.dims.insert(attributes.dims.begin(), Dim(static_cast<std::int64_t>(2 + pick(70))));
    for (std::int64_t& axis : attributes.mapping) ++axis;
  } else {
    attributes.dims.emplace_back(static_cast<std::int64_t>(2 + pick(70)));
  }
  emit(Op::broadcast_in_dim, std::vector<std::size_t>{known}, attributes);
}

void RandomNodes::add_call() {
  const std::vector<std::size_t> operands = region_operands();
  emit(Op::call, operands, graph::NoAttributes{}, {region(operands, {})});
}

void RandomNodes::add_if() {
  const std::vector<std::size_t> operands = region_operands();
  const graph::Region then = region(operands, {});
  std::vector<Shape> results;
  for (const graph::Output& output : then->outputs()) results.push_back(then->shape(output.value));
  const graph::Region otherwise = region(operands, results);
  std::vector<std::size_t> all = operands;
  all.insert(all.begin(), of_shape({DType::boolean, {}}));
  emit(Op::if_else, all, graph::NoAttributes{}, {then, otherwise});
}

void RandomNodes::add_while() {
  std::vector<std::size_t> operands = region_operands();
  const Case counter{.operands = {{.shape = {DType::i32, {}}, .values = {"places", 5}}}, .seed = random_() % 1000000};
  operands.insert(operands.begin(), fresh(counter, 0));
  std::vector<Shape> shapes;
  for (const std::size_t i : operands) shapes.push_back(b_.shape(known_[i].value));
  RandomNodes body("body", *this, operands);
  for (std::size_t i = 1 + pick(5); i > 0; --i) body.add();
  const Value less = body.b_.sub({body.known_[0].value, body.b_.scalar(DType::i32, 1)});
  body.b_.output("count", less);
  const graph::Region nodes = body.finish_region({shapes.begin() + 1, shapes.end()});
  emit(Op::while_loop, operands, graph::NoAttributes{}, {make_region("counting", {}, shapes, b_.dims()), nodes});
}

graph::Region RandomNodes::region(std::span<const std::size_t> operands, std::span<const Shape> results) {
  RandomNodes nodes("region", *this, operands);
  for (std::size_t i = 1 + pick(6); i > 0; --i) nodes.add();
  return nodes.finish_region(results);
}

graph::Region RandomNodes::finish_region(std::span<const Shape> results) {
  std::vector<std::size_t> chosen;
  for (const Shape& shape : results) {
    std::size_t found = known_.size();
    while (found > 0 && b_.shape(known_[found - 1].value) != shape) --found;
    chosen.push_back(found > 0 ? found - 1 : of_shape(shape));
  }
  if (results.empty()) {
    for (std::size_t i = 1 + pick(3); i > 0; --i) chosen.push_back(std::max(pick(known_.size()), pick(known_.size())));
  }
  for (const std::size_t i : chosen) b_.output("y" + std::to_string(b_.so_far().outputs().size()), known_[i].value);
  return std::make_shared<const graph::Graph>(b_.finish());
}

std::vector<std::size_t> RandomNodes::emit(Op op, std::span<const std::size_t> operands,
                                           const graph::Attributes& attributes,
                                           const std::vector<graph::Region>& regions) {
  std::vector<Shape> shapes;
  std::vector<Value> values;
  std::vector<Tracked> tracked;
  for (const std::size_t i : operands) {
    values.push_back(known_[i].value);
    shapes.push_back(b_.shape(known_[i].value));
    tracked.push_back(known_[i].tracked);
  }
  graph::Node node{.op = op, .attributes = attributes, .operands = values, .results = {}, .regions = regions};
  node.results = graph::infer_shapes({op, attributes, shapes, regions, *b_.dims(), {}});
  graph::DimValues dims(*b_.dims());
  for (const DimId id : b_.dims()->names()) dims.set(id, std::stoll((*b_.dims())[id].name.substr(1)), "a dim");
  std::vector<Shape> found;
  for (const Shape& shape : node.results) found.push_back(dims(shape));
  for (const Shape& shape : found) {
    if (shape.element_count() > 20 * kMostElements) give_up("too large");
  }
  const std::vector<Tracked> results = track_op(node, tracked, found, dims, random_);
  const std::vector<Value> added = b_.emit(op, values, attributes, regions);
  for (const std::size_t i : operands) known_[i].is_used = true;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < added.size(); ++i) {
    places.push_back(known_.size());
    known_.push_back({added[i], results[i]});
  }
  ++count_;
  return places;
}

std::size_t RandomNodes::fresh(const Case& subject, std::size_t place) {
  Case calmer = subject;
  for (Operand& operand : calmer.operands) operand.view = View::plain;
  calmer.operands[place].values = calm(subject.operands[place], random_);
  const Tensor tensor = values_of(calmer, place);
  if (tensor.byte_count() > kMaxBytes) give_up("too large");
  Shape shape = subject.operands[place].shape;
  const bool is_static = shape.is_static();
  DimNamer(b_.dims()).apply(shape.dims);
  if (is_region_ && !is_static) give_up("a region has no other inputs");
  if (is_region_ || (is_static && (subject.operands[place].is_constant || happens(15)))) {
    known_.push_back({b_.constant(tensor), {tensor, {}}});
  } else {
    known_.push_back({b_.parameter("x" + std::to_string(inputs_.size()), shape), {tensor, {}}});
    inputs_.push_back(tensor);
  }
  return known_.size() - 1;
}

std::size_t RandomNodes::operand_for(const Case& subject, std::size_t place) {
  const Operand& operand = subject.operands[place];
  const std::string& kind = operand.values.name;
  const bool is_place = kind == "places" || kind == "wild";
  if (is_sequence_kind(kind) || (is_place && happens(80)) || happens(30)) return fresh(subject, place);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (b_.shape(known_[i].value).dtype == operand.shape.dtype) candidates.push_back(i);
  }
  if (candidates.empty()) return fresh(subject, place);
  Shape shape = operand.shape;
  DimNamer(b_.dims()).apply(shape.dims);
  const std::size_t known = candidates[std::max(pick(candidates.size()), pick(candidates.size()))];
  const Shape& from = b_.shape(known_[known].value);
  if (from == shape) return known;
  if (!from.is_static() || !shape.is_static()) return fresh(subject, place);
  return adapted(known, shape);
}

std::size_t RandomNodes::of_shape(const Shape& shape) {
  std::vector<std::size_t> same, others;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Shape& found = b_.shape(known_[i].value);
    if (found == shape) same.push_back(i);
    if (found.dtype == shape.dtype && found.is_static()) others.push_back(i);
  }
  if (!same.empty() && happens(70)) return same[pick(same.size())];
  if (!others.empty() && shape.is_static() && (is_region_ || happens(30)))
    return adapted(others[pick(others.size())], shape);
  Shape plain = shape;  // ids that are extents, as in cases
  for (Dim& dim : plain.dims) {
    if (dim.is_number()) continue;
    if (b_.dims()->entry(dim.id()).kind != graph::DimEntry::Kind::name) give_up("no input has a form as its extent");
    dim = Dim::of_id(static_cast<DimId>(std::stoll((*b_.dims())[dim.id()].name.substr(1))));
  }
  return fresh({.operands = {{.shape = plain}}, .seed = random_() % 1000000}, 0);
}

// The value cut, padded or repeated to another shape.
std::size_t RandomNodes::adapted(std::size_t known, const Shape& shape) {
  const Shape from = b_.shape(known_[known].value);
  if (from == shape) return known;
  const std::int64_t have = from.element_count(), want = shape.element_count();
  const auto one = [&](Op op, std::vector<std::size_t> operands, const graph::Attributes& attributes) {
    return emit(op, operands, attributes).front();
  };
  if (have == want) return one(Op::reshape, {known}, graph::Reshape{shape.dims});
  if (from.rank() == 0) return one(Op::broadcast_in_dim, {known}, graph::BroadcastInDim{shape.dims, {}});
  if (from.rank() == shape.rank()) {
    bool repeats = true, cuts = true;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t a = from.dims[axis].number(), c = shape.dims[axis].number();
      repeats = repeats && (a == c || a == 1);
      cuts = cuts && a >= c;
    }
    if (repeats) return one(Op::broadcast_in_dim, {known}, graph::BroadcastInDim{shape.dims, counting(shape.rank())});
    if (cuts) return one(Op::slice, {known}, graph::Slice{graph::Dims(shape.rank(), 0), shape.dims, {}});
  }
  const std::size_t flat = from.rank() == 1 ? known : one(Op::reshape, {known}, graph::Reshape{{have}});
  std::size_t fitted = flat;
  if (have > want) {
    fitted = one(Op::slice, {flat}, graph::Slice{{0}, {want}, {}});
  } else {
    const std::size_t filler = fresh({.operands = {{.shape = {shape.dtype, {}}}}, .seed = random_() % 1000000}, 0);
    fitted = one(Op::pad, {flat, filler}, graph::Pad{{0}, {want - have}, {}});
  }
  return shape.rank() == 1 ? fitted : one(Op::reshape, {fitted}, graph::Reshape{shape.dims});
}

// A dim of attributes alone gets its value from an input that nothing reads.
void RandomNodes::bind_dims() {
  std::vector<bool> bound(b_.dims()->size());
  for (const graph::Parameter& parameter : b_.so_far().parameters()) {
    for (const Dim dim : parameter.shape.dims) {
      if (!dim.is_number()) bound[static_cast<std::size_t>(dim.id())] = true;
    }
  }
  for (const DimId id : b_.dims()->names()) {
    if (bound[static_cast<std::size_t>(id)]) continue;
    const Dim dim = Dim::of_id(id);
    b_.parameter("x" + std::to_string(inputs_.size()), {DType::u8, {dim}});
    inputs_.push_back(Tensor::zeros({DType::u8, {Dim(std::stoll((*b_.dims())[dim.id()].name.substr(1)))}}));
  }
}

Subject RandomNodes::finish() {
  if (known_.empty()) fresh({.operands = {{.shape = {DType::f32, {3}}}}}, 0);
  bind_dims();
  std::vector<std::size_t> chosen;
  for (std::size_t i = known_.size(); i-- > 0 && chosen.size() < kMostOutputs;) {
    if (!known_[i].is_used || happens(10)) chosen.push_back(i);
  }
  for (const std::size_t i : chosen) b_.output("y" + std::to_string(b_.so_far().outputs().size()), known_[i].value);
  return {b_.finish(), inputs_};
}

}  // namespace alate::conformance
