#include <algorithm>
#include <map>

#include "graph/builder_functions.h"
#include "graph/functions/arguments.h"

namespace alate::graph {
namespace {

// Names of axes: letters as themselves, and numbers that no letter has for the axes of "...", from the last one on.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = -1;

Label ellipsis_label(std::size_t from_end) { return 256 + static_cast<Label>(from_end); }
bool has(const Labels& labels, Label label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// A value with distinctly labeled axes.
struct Term {
  Value value;
  Labels labels;
};

class Einsum {
 public:
  Einsum(Builder& b, std::string_view equation, const std::vector<Value>& operands)
      : b_(b), arguments_{b, "einsum", operands} {
    const std::size_t arrow = equation.find("->");
    std::string_view inputs = equation.substr(0, arrow);
    for (const Value& operand : operands) {
      const std::size_t comma = inputs.find(',');
      arguments_.require(&operand == &operands.back() ? comma == inputs.npos : comma != inputs.npos,
                         "the equation must name the axes of each operand, and of no other");
      terms_.push_back({operand, labels_of(inputs.substr(0, comma), b.shape(operand).rank())});
      inputs.remove_prefix(comma == inputs.npos ? inputs.size() : comma + 1);
    }
    arguments_.require(!operands.empty(), "needs at least one operand");
    for (const Term& term : terms_) note_extents(term);
    output_ = arrow == equation.npos ? implied_output() : stated_output(equation.substr(arrow + 2));
  }

  Value build() {
    for (Term& term : terms_) prepare(term);
    Term result = terms_.front();
    for (std::size_t i = 1; i < terms_.size(); ++i) result = contract(result, terms_[i], i + 1);
    result = sum_out(result, output_);
    Numbers order;
    for (const Label label : output_) order.push_back(place(result.labels, label));
    return std::is_sorted(order.begin(), order.end()) ? result.value
                                                      : b_.transpose({result.value}, {.permutation = std::move(order)});
  }

 private:
  static std::int64_t place(const Labels& labels, Label label) {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
  }

  Labels parse(std::string_view text) {
    Labels labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ') continue;
      if (text.substr(i).starts_with("...")) {
        arguments_.require(!has(labels, kEllipsis), "\"...\" may stand once for an operand");
        labels.push_back(kEllipsis);
        i += 2;
        continue;
      }
      arguments_.require((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), "the equation names axes by letters");
      labels.push_back(c);
    }
    return labels;
  }

  Labels labels_of(std::string_view text, std::size_t rank) {
    Labels labels = parse(text);
    const auto dots = std::find(labels.begin(), labels.end(), kEllipsis);
    if (dots == labels.end()) {
      arguments_.require(labels.size() == rank, "the equation must name each axis of an operand");
      return labels;
    }
    arguments_.require(labels.size() - 1 <= rank, "the equation names more axes than an operand has");
    const std::size_t hidden = rank - (labels.size() - 1);
    most_hidden_ = std::max(most_hidden_, hidden);
    return replaced(labels, hidden);
  }

  static Labels replaced(const Labels& labels, std::size_t hidden) {
    Labels result;
    for (const Label label : labels) {
      if (label != kEllipsis) result.push_back(label);
      for (std::size_t i = hidden; label == kEllipsis && i-- > 0;) result.push_back(ellipsis_label(i));
    }
    return result;
  }

  // A label's extent is that of its axes other than 1, which must agree.
  void note_extents(const Term& term) {
    const Dims& dims = b_.shape(term.value).dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      Dim& extent = extents_.try_emplace(term.labels[i], dims[i]).first->second;
      if (extent == Dim(1)) extent = dims[i];
      arguments_.require(
          dims[i] == extent || dims[i] == Dim(1),
          "axes of one name have extents " + b_.dims()->to_string(extent) + " and " + b_.dims()->to_string(dims[i]));
    }
  }

  Labels implied_output() {
    Labels labels = replaced({kEllipsis}, most_hidden_);
    for (const auto& [label, extent] : extents_) {
      std::int64_t uses = 0;
      for (const Term& term : terms_) uses += std::count(term.labels.begin(), term.labels.end(), label);
      if (label < ellipsis_label(0) && uses == 1) labels.push_back(label);
    }
    return labels;
  }

  Labels stated_output(std::string_view text) {
    Labels labels = parse(text);
    arguments_.require(most_hidden_ == 0 || has(labels, kEllipsis), "the result lacks the axes of \"...\"");
    labels = replaced(labels, most_hidden_);
    for (const Label label : labels) {
      arguments_.require(extents_.contains(label), "the result names an axis that no operand has");
      arguments_.require(std::count(labels.begin(), labels.end(), label) == 1, "the result names an axis twice");
    }
    return labels;
  }

  // Takes diagonals, and drops axes of extent 1 whose label has a larger extent elsewhere.
  void prepare(Term& term) {
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const Dim extent = b_.shape(term.value).dims[i];
      if (extent == Dim(1) && (extents_.at(term.labels[i]) != Dim(1) || is_repeated(term.labels, i))) {
        term.value = squeeze(b_, term.value, Numbers{static_cast<std::int64_t>(i)});
        term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i--));
      }
    }
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      while (is_repeated(term.labels, i)) take_diagonal(term, i);
    }
  }

  static bool is_repeated(const Labels& labels, std::size_t i) {
    return std::count(labels.begin(), labels.end(), labels[i]) > 1;
  }

  // Takes the diagonal of axis i and the next axis of the same label: zeroes all other elements and sums over the
  // second axis.
  void take_diagonal(Term& term, std::size_t i) {
    const auto second =
        std::find(term.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, term.labels.end(), term.labels[i]);
    const auto other = second - term.labels.begin();
    const Dims dims = b_.shape(term.value).dims;
    const auto places = [&](std::int64_t axis) {
      return b_.iota({}, {.dtype = DType::i64, .dims = dims, .axis = axis});
    };
    const Value is_kept = b_.equal({places(static_cast<std::int64_t>(i)), places(other)});
    const Value kept = b_.select({is_kept, term.value, scalar_like(b_, 0, term.value)});
    term.value = b_.reduce_sum({kept}, {.axes = {other}});
    term.labels.erase(second);
  }

  Term sum_out(const Term& term, const Labels& needed) {
    Numbers axes;
    Labels left;
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      if (has(needed, term.labels[i])) {
        left.push_back(term.labels[i]);
      } else {
        axes.push_back(static_cast<std::int64_t>(i));
      }
    }
    return axes.empty() ? term : Term{b_.reduce_sum({term.value}, {.axes = std::move(axes)}), std::move(left)};
  }

  // The product of both terms; `next` is the index of the first remaining term.
  Term contract(const Term& left, const Term& right, std::size_t next) {
    Labels later = output_;
    for (std::size_t i = next; i < terms_.size(); ++i)
      later.insert(later.end(), terms_[i].labels.begin(), terms_[i].labels.end());
    const auto with = [](Labels labels, const Labels& more) {
      labels.insert(labels.end(), more.begin(), more.end());
      return labels;
    };
    const Term x = sum_out(left, with(later, right.labels)), y = sum_out(right, with(later, left.labels));
    DotGeneral dot;
    Labels batch, free;
    for (const Label label : x.labels) {
      if (!has(y.labels, label)) {
        free.push_back(label);
      } else if (has(later, label)) {
        batch.push_back(label);
        dot.lhs_batch.push_back(place(x.labels, label));
        dot.rhs_batch.push_back(place(y.labels, label));
      } else {
        dot.lhs_contracting.push_back(place(x.labels, label));
        dot.rhs_contracting.push_back(place(y.labels, label));
      }
    }
    for (const Label label : y.labels) {
      if (!has(x.labels, label)) free.push_back(label);
    }
    return {b_.dot_general({x.value, y.value}, std::move(dot)), with(batch, free)};
  }

  Builder& b_;
  Arguments arguments_;
  std::vector<Term> terms_;
  std::map<Label, Dim> extents_;
  std::size_t most_hidden_ = 0;
  Labels output_;
};

}  // namespace

Value einsum(Builder& b, std::string_view equation, const std::vector<Value>& operands) {
  return Einsum(b, equation, operands).build();
}

}  // namespace alate::graph
