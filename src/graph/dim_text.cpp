#include "graph/dim_text.h"

namespace alate::graph {
namespace {

class Writer {
 public:
  Writer(const DimTable& dims, std::string (*name_text)(std::string_view)) : dims_(dims), name_text_(name_text) {}

  std::string form(const DimForm& form) const {
    std::string text;
    for (const DimForm::Term& term : form.terms) {
      const bool is_alone = term.factor == 1;
      if (!text.empty() && term.factor > 0) text += '+';
      if (!is_alone) text += std::to_string(term.factor) + "*";
      text += atom(term.atom, !is_alone);
    }
    if (form.plus != 0 || form.terms.empty()) {
      if (!text.empty() && form.plus > 0) text += '+';
      text += std::to_string(form.plus);
    }
    return text;
  }

 private:
  // A quotient is a factor only in parentheses: 2*(a/3) is not 2*a/3.
  std::string atom(DimId id, bool is_factor) const {
    const DimEntry& entry = dims_.entry(id);
    switch (entry.kind) {
      case DimEntry::Kind::name: return name_text_(entry.name.name);
      case DimEntry::Kind::sum: return "(" + form(entry.first) + ")";
      case DimEntry::Kind::quotient: {
        const std::string text = dividend(entry.first) + "/" + std::to_string(entry.divisor);
        return is_factor ? "(" + text + ")" : text;
      }
      case DimEntry::Kind::product:
        return atom(entry.first.terms.front().atom, true) + "*" + atom(entry.second.terms.front().atom, true);
      case DimEntry::Kind::smaller: return "min(" + form(entry.first) + "," + form(entry.second) + ")";
      case DimEntry::Kind::larger: return "max(" + form(entry.first) + "," + form(entry.second) + ")";
    }
    return {};
  }

  std::string dividend(const DimForm& of) const {
    const bool is_name = of.plus == 0 && of.terms.size() == 1 && of.terms.front().factor == 1 &&
                         dims_.entry(of.terms.front().atom).kind == DimEntry::Kind::name;
    return is_name ? form(of) : "(" + form(of) + ")";
  }

  const DimTable& dims_;
  std::string (*const name_text_)(std::string_view);
};

}  // namespace

std::string text_of(const DimForm& form, const DimTable& dims, std::string (*name_text)(std::string_view name)) {
  return Writer(dims, name_text).form(form);
}

}  // namespace alate::graph
