#include "core/trace/kineto/json_elements.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <utility>

namespace prism::kineto {
namespace {

// Bytes may be read again this often on the whole, and this many in any case:
// a file that is nothing but damage still ends in time.
constexpr int64_t kMostRepeats = 8;
constexpr int64_t kFreeRepeatBytes = int64_t{32} << 20;
constexpr size_t kMostKeyBytes = 1000;

}  // namespace

JsonElements::JsonElements(std::string array, Sink& sink, Damage& damage)
    : array_(std::move(array)), sink_(sink), damage_(damage) {}

void JsonElements::Feed(std::string_view bytes) {
  const int64_t begin = fed_;
  fed_ += static_cast<int64_t>(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    at_ = begin + static_cast<int64_t>(i);
    Take(bytes[i]);
    TakeAgain();
  }
}

void JsonElements::TakeAgain() {
  const int64_t last = at_;
  while (next_again_ < again_.size()) {
    at_ = again_begin_ + static_cast<int64_t>(next_again_);
    Take(again_[next_again_++]);
  }
  again_.clear();
  next_again_ = 0;
  at_ = last;
}

void JsonElements::Take(char c) {
  switch (state_) {
    case State::kStart:
      TakeStart(c);
      break;
    case State::kKey:
      TakeKey(c);
      break;
    case State::kInKey:
      TakeInKey(c);
      break;
    case State::kColon:
      TakeColon(c);
      break;
    case State::kValue:
      TakeValue(c);
      break;
    case State::kElements:
      TakeElements(c);
      break;
    case State::kElement:
      TakeElement(c);
      break;
    case State::kLost:
      TakeLost(c);
      break;
    case State::kEnd:
      if (absl::ascii_isspace(c)) break;
      damage_.Add(at_, "something follows the end of the document");
      state_ = State::kDead;
      break;
    case State::kDead:
      break;
  }
  if (!absl::ascii_isspace(c)) previous_ = c;
}

void JsonElements::TakeStart(char c) {
  if (absl::ascii_isspace(c)) return;
  if (c == '{') {
    state_ = State::kKey;
  } else if (c == '[') {
    state_ = State::kElements;
    bare_ = found_ = true;
  } else {
    damage_.Add(at_, "is not JSON: it begins neither with { nor with [");
    state_ = State::kDead;
  }
}

void JsonElements::TakeKey(char c) {
  if (absl::ascii_isspace(c) || c == ',') return;
  if (c == '"') {
    key_.clear();
    state_ = State::kInKey;
  } else if (c == '}') {
    state_ = State::kEnd;
  } else {
    Lose("a key was expected", at_);
  }
}

void JsonElements::TakeInKey(char c) {
  if (c == '"') {
    state_ = State::kColon;
  } else if (key_.size() < kMostKeyBytes) {
    key_ += c;
  }
}

void JsonElements::TakeColon(char c) {
  if (absl::ascii_isspace(c)) return;
  if (c != ':') return Lose("a colon was expected", at_);
  text_.clear();
  text_is_whole_ = true;
  nesting_ = {};
  state_ = State::kValue;
}

void JsonElements::TakeValue(char c) {
  const bool begins = text_.empty();
  if (begins && absl::ascii_isspace(c)) return;
  if (begins && c == '[' && key_ == array_) {
    found_ = true;
    state_ = State::kElements;
    return;
  }
  const bool outside = nesting_.depth == 0 && !nesting_.in_string;
  if (outside && (c == ',' || c == '}')) return EndValue(c == '}');
  if (!Follow(c)) return Lose(absl::StrCat("value of ", key_), at_);
  if (text_.size() < kMostElementBytes) {
    text_ += c;
  } else {
    text_is_whole_ = false;
  }
}

void JsonElements::EndValue(bool last) {
  if (text_is_whole_) sink_.OnField(key_, text_);
  state_ = last ? State::kEnd : State::kKey;
}

void JsonElements::TakeElements(char c) {
  if (absl::ascii_isspace(c) || c == ',') return;
  if (c == '{') {
    BeginElement();
  } else if (c == ']') {
    state_ = bare_ ? State::kEnd : State::kKey;
  } else {
    Lose("an object was expected", at_);
  }
}

void JsonElements::BeginElement() {
  text_.clear();
  begin_ = at_;
  nesting_ = {};
  state_ = State::kElement;
  TakeElement('{');
}

void JsonElements::TakeElement(char c) {
  text_ += c;
  if (!Follow(c)) {
    LoseElement("an object is damaged");
    return;
  }
  if (nesting_.depth == 0) {
    state_ = State::kElements;
    sink_.OnElement(text_, begin_);
  } else if (text_.size() > kMostElementBytes) {
    LoseElement("an object is too long");
  }
}

bool JsonElements::Follow(char c) {
  if (nesting_.in_string) {
    TakeString(c);
    return c != '\n';
  }
  switch (c) {
    case '"':
      nesting_.in_string = true;
      return true;
    case '{':
    case '[':
      return Open(c == '{');
    case '}':
    case ']':
      return Close(c == '}');
    default:
      return true;
  }
}

void JsonElements::TakeString(char c) {
  if (nesting_.escaped) {
    nesting_.escaped = false;
  } else if (c == '\\') {
    nesting_.escaped = true;
  } else if (c == '"') {
    nesting_.in_string = false;
  }
}

bool JsonElements::Open(bool object) {
  if (nesting_.depth == kMostDepth) return false;
  const uint32_t bit = uint32_t{1} << nesting_.depth++;
  nesting_.is_object =
      object ? nesting_.is_object | bit : nesting_.is_object & ~bit;
  return true;
}

bool JsonElements::Close(bool object) {
  if (nesting_.depth == 0) return false;
  const bool is_object = (nesting_.is_object >> --nesting_.depth & 1) != 0;
  return is_object == object;
}

void JsonElements::TakeLost(char c) {
  if (c == '{' && previous_ == ',') BeginElement();
}

void JsonElements::Lose(std::string what, int64_t byte) {
  damage_.Add(byte, std::move(what));
  state_ = State::kLost;
}

void JsonElements::LoseElement(std::string what) {
  Lose(std::move(what), begin_);
  taken_again_ += static_cast<int64_t>(text_.size());
  if (taken_again_ > kFreeRepeatBytes + kMostRepeats * fed_) {
    damage_.Add(at_, "too damaged: what follows is not read");
    state_ = State::kDead;
  } else if (next_again_ > 0) {
    next_again_ -= text_.size() - 1;
  } else {
    again_ = text_.substr(1);
    again_begin_ = begin_ + 1;
  }
}

void JsonElements::Finish() {
  // A lost quote makes a string of all that follows: there may be more in it.
  while (state_ == State::kElement) {
    LoseElement("the file ends in an object");
    TakeAgain();
  }
  if (state_ == State::kStart) {
    damage_.Add(0, "is empty");
  } else if (state_ != State::kEnd && state_ != State::kDead && !bare_) {
    damage_.Add(fed_, "the file ends early");
  } else if (state_ == State::kEnd && !found_) {
    damage_.Add(fed_, absl::StrCat("has no ", array_));
  }
}

}  // namespace prism::kineto
