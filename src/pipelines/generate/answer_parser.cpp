#include "pipelines/generate/answer_parser.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/call_reader.h"
#include "pipelines/generate/marker_search.h"

namespace alate::pipelines {
namespace {

class AnswerPieces final : public CallSink {
 public:
  using Kind = AnswerPiece::Kind;

  void write_to(std::vector<AnswerPiece>& pieces) {
    pieces_ = &pieces;
    first_ = pieces.size();
  }

  void text(std::string_view text) { add(Kind::text, 0, text); }
  void reasoning(std::string_view text) { add(Kind::reasoning, 0, text); }
  void name(std::string_view tool) override {
    ++read_;
    is_left_out_ = calls_ == most_calls_;
    if (is_left_out_) return;
    pieces_->push_back({Kind::tool_call, calls_, std::string(tool)});
    ++calls_;
  }
  void arguments(std::string_view text) override {
    if (!is_left_out_) add(Kind::tool_arguments, calls_ - 1, text);
  }

  void set_most_calls(std::size_t most) { most_calls_ = most; }
  std::size_t calls() const { return calls_; }
  // Those left out too.
  std::size_t read() const { return read_; }

 private:
  void add(Kind kind, std::size_t call, std::string_view text) {
    if (text.empty()) return;
    if (pieces_->size() > first_ && pieces_->back().kind == kind && pieces_->back().call == call) {
      pieces_->back().text += text;
    } else {
      pieces_->push_back({kind, call, std::string(text)});
    }
  }

  std::vector<AnswerPiece>* pieces_ = nullptr;
  std::size_t first_ = 0, calls_ = 0, read_ = 0, most_calls_ = std::numeric_limits<std::size_t>::max();
  bool is_left_out_ = false;  // the call that is being read
};

}  // namespace

struct AnswerParser::State {
  explicit State(std::shared_ptr<const AnswerSyntax> of) : syntax_(std::move(of)) {
    if (syntax_ != nullptr && syntax_->has_one_call()) pieces_.set_most_calls(1);
    if (syntax_ == nullptr) {
      begin_text();
    } else if (syntax_->begun() != nullptr) {
      begin_reasoning(*syntax_->begun());
    }
  }

  void add(std::string_view text, std::vector<AnswerPiece>& pieces) {
    pieces_.write_to(pieces);
    if (part_ == Part::text && is_plain_) {
      pieces_.text(text);
    } else {
      add_all(text);
    }
  }

  void finish(std::vector<AnswerPiece>& pieces) {
    pieces_.write_to(pieces);
    std::string rest;
    switch (part_) {
      case Part::before:
      case Part::gap: add_as_text(); break;
      case Part::reasoning:
        search_.finish(rest);
        give_reasoning(rest);
        pieces_.reasoning(blanks_);
        return;
      case Part::text: break;
      case Part::call:
        // After a call, one that has hardly begun is cut off too.
        if (!is_after_call_ && pieces_.read() == calls_before_) rest = reader_->take_held();
        break;
    }
    search_.finish(rest);
    give_text(rest);
    if (!is_after_call_) pieces_.text(blanks_);
  }

  std::size_t calls() const { return pieces_.calls(); }

 private:
  enum class Part : std::uint8_t {
    before,     // blanks, and perhaps the tag of the reasoning
    reasoning,  // up to its closing tag
    gap,        // blanks after it, and perhaps the answer's own tag
    text,
    call,
  };

  void add_all(std::string_view text) {
    for (const char byte : text) add(byte);
  }

  void add(char byte) {
    switch (part_) {
      case Part::before: return add_before(byte);
      case Part::reasoning: return add_reasoning(byte);
      case Part::gap: return add_gap(byte);
      case Part::text: return add_text(byte);
      case Part::call: return add_call(byte);
    }
  }

  void add_before(char byte) {
    if (begun_.empty() && is_blank(byte)) {
      blanks_ += byte;
      return;
    }
    begun_ += byte;
    for (const ReasoningTags& tags : syntax_->reasoning()) {
      if (!tags.open.starts_with(begun_)) continue;
      if (tags.open.size() == begun_.size()) begin_reasoning(tags);
      return;
    }
    add_as_text();
  }

  void begin_reasoning(const ReasoningTags& tags) {
    tags_ = &tags;
    search_ = MarkerSearch({tags.close});
    begun_.clear();
    blanks_.clear();
    part_ = Part::reasoning;
  }

  void add_reasoning(char byte) {
    std::string passed;
    const bool is_end = search_.add(byte, passed).has_value();
    give_reasoning(passed);
    if (!is_end) return;
    blanks_.clear();
    part_ = Part::gap;
  }

  void give_reasoning(std::string_view text) {
    while (!has_reasoning_ && !text.empty() && is_blank(text.front())) text.remove_prefix(1);
    if (text.empty()) return;
    has_reasoning_ = true;
    std::string shown;
    append_holding_blanks(blanks_, text, shown);
    pieces_.reasoning(shown);
  }

  void add_gap(char byte) {
    if (begun_.empty() && is_blank(byte)) return;
    begun_ += byte;
    if (tags_->answer_open.starts_with(begun_)) {
      if (tags_->answer_open.size() == begun_.size()) {
        begun_.clear();
        begin_text();
        is_after_tag_ = true;
      }
      return;
    }
    add_as_text();
  }

  // What may have become a tag is text.
  void add_as_text() {
    const std::string text = std::exchange(blanks_, {}) + std::exchange(begun_, {});
    begin_text();
    add_all(text);
  }

  void begin_text() {
    part_ = Part::text;
    const CallFormat* calls = syntax_ == nullptr ? nullptr : syntax_->calls();
    const std::string_view none;
    search_ = MarkerSearch({calls == nullptr ? none : calls->section, calls == nullptr ? none : calls->open,
                            tags_ == nullptr ? none : tags_->answer_close});
    is_plain_ = !search_.has_markers();
    is_bare_ = calls != nullptr && calls->is_bare;
  }

  void add_text(char byte) {
    if (is_plain_) return pieces_.text({&byte, 1});
    if (is_after_tag_ && is_blank(byte)) return;
    is_after_tag_ = false;
    // Only an answer that begins with an object can be a call that has no marker.
    if (is_bare_ && byte == '{' && search_.is_idle()) return begin_call({}, byte);
    std::string passed;
    const std::optional<std::string_view> marker = search_.add(byte, passed);
    give_text(passed);
    if (!marker) return;
    if (tags_ != nullptr && *marker == tags_->answer_close) {
      blanks_.clear();
    } else {
      begin_call(*marker, std::nullopt);
    }
  }

  void give_text(std::string_view text) {
    std::string shown;
    append_holding_blanks(blanks_, text, shown);
    if (shown.empty()) return;
    // Blanks between calls and a text after them separate it from a text before them.
    const std::size_t begin = is_after_call_ && !has_text_ ? shown.find_first_not_of(" \t\r\n") : 0;
    pieces_.text(std::string_view(shown).substr(begin));
    has_text_ = true;
    is_after_call_ = is_bare_ = false;
  }

  void begin_call(std::string_view marker, std::optional<char> first) {
    reader_.emplace(*syntax_, marker);
    calls_before_ = pieces_.read();
    part_ = Part::call;
    if (first) add_call(*first);
  }

  void add_call(char byte) {
    const CallReader::Step step = reader_->add(byte, pieces_);
    if (pieces_.read() > calls_before_) blanks_.clear();
    if (step == CallReader::Step::more) return;
    if (pieces_.read() > calls_before_) is_after_call_ = true;
    const std::string held = step == CallReader::Step::text ? reader_->take_held() : std::string();
    const std::string unread = reader_->take_unread();
    reader_.reset();
    part_ = Part::text;
    is_bare_ = false;
    give_text(held);
    add_all(unread);
  }

  const std::shared_ptr<const AnswerSyntax> syntax_;
  Part part_ = Part::before;
  AnswerPieces pieces_;
  const ReasoningTags* tags_ = nullptr;  // of the reasoning that has begun
  MarkerSearch search_;                  // of what ends the part
  std::string begun_;                    // what may be a tag
  std::string blanks_;                   // before what comes
  bool has_reasoning_ = false, has_text_ = false;
  bool is_plain_ = false;  // nothing in the text has a meaning
  bool is_bare_ = false;   // the text may still begin with a call without a marker
  bool is_after_tag_ = false, is_after_call_ = false;
  std::optional<CallReader> reader_;
  std::size_t calls_before_ = 0;  // the reader's
};

AnswerParser::AnswerParser(std::shared_ptr<const AnswerSyntax> syntax)
    : state_(std::make_unique<State>(std::move(syntax))) {}
AnswerParser::~AnswerParser() = default;
AnswerParser::AnswerParser(AnswerParser&&) noexcept = default;
AnswerParser& AnswerParser::operator=(AnswerParser&&) noexcept = default;

void AnswerParser::add(std::string_view text, std::vector<AnswerPiece>& pieces) { state_->add(text, pieces); }
void AnswerParser::finish(std::vector<AnswerPiece>& pieces) { state_->finish(pieces); }
std::size_t AnswerParser::calls() const { return state_->calls(); }

}  // namespace alate::pipelines
