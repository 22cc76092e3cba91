// JsonElements: a JSON file of any size cut into the elements of one array.
//
// A trace is one object with one huge array of small objects. Bytes are fed as
// they come; each element is given out as text as soon as it is whole, so that
// memory is bounded by the largest element that is taken. A file that is the
// array itself is taken too, also without its closing bracket, as the trace
// event format allows.
//
// Damage does not end the reading. Where an element cannot be one (brackets
// that do not match, a line break in a string, too deep, too long), the search
// goes on inside of it for the next element: an opening brace behind a comma.
// Objects inside of an element stand behind a colon. What is skipped so is
// named once for each place. Texts given out have matching brackets, but may
// still not be JSON.
#ifndef PRISM_CORE_TRACE_KINETO_JSON_ELEMENTS_H_
#define PRISM_CORE_TRACE_KINETO_JSON_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/trace/kineto/damage.h"

namespace prism::kineto {

class JsonElements {
 public:
  // A longer element is damage.
  static constexpr size_t kMostElementBytes = size_t{1} << 20;
  static constexpr int kMostDepth = 32;

  class Sink {
   public:
    virtual ~Sink() = default;
    // An object of the array, and where it begins.
    virtual void OnElement(std::string_view text, int64_t byte) = 0;
    // Another value of the file's object. Values longer than
    // kMostElementBytes are left out.
    virtual void OnField(std::string_view key, std::string_view text) = 0;
  };

  // `array` is the key of the array: "traceEvents". Neither `sink` nor
  // `damage` is owned.
  JsonElements(std::string array, Sink& sink, Damage& damage);

  void Feed(std::string_view bytes);
  // To be called once, after the last bytes.
  void Finish();

 private:
  enum class State {
    kStart,
    kKey,       // before a key of the object, or its end
    kInKey,     // in the key
    kColon,     // behind the key
    kValue,     // in a value that is not the array
    kElements,  // between elements
    kElement,   // in an element
    kLost,      // looking for the next element
    kEnd,       // behind the object or the array
    kDead,      // nothing more is read
  };
  // How far a value has been followed.
  struct Nesting {
    int depth = 0;
    uint32_t is_object = 0;  // bit d: bracket d is a brace
    bool in_string = false;
    bool escaped = false;
  };

  void Take(char c);
  void TakeStart(char c);
  void TakeKey(char c);
  void TakeInKey(char c);
  void TakeColon(char c);
  void TakeValue(char c);
  void TakeElements(char c);
  void TakeElement(char c);
  void TakeLost(char c);
  // Follows the brackets and strings of a value. False: it cannot be one.
  bool Follow(char c);
  bool Open(bool object);
  bool Close(bool object);
  void TakeString(char c);
  void BeginElement();
  // `last`: the object ends behind it.
  void EndValue(bool last);
  void Lose(std::string what, int64_t byte);
  // Has what the element held so far read again, from its second byte on.
  void LoseElement(std::string what);
  void TakeAgain();

  std::string array_;
  Sink& sink_;
  Damage& damage_;
  State state_ = State::kStart;
  bool bare_ = false;  // the file is the array itself
  Nesting nesting_;
  char previous_ = 0;  // last byte that is no white space
  std::string key_;
  std::string text_;  // of the element or value so far
  bool text_is_whole_ = true;
  int64_t begin_ = 0;  // where text_ begins
  int64_t at_ = 0;     // of the byte being taken
  int64_t fed_ = 0;    // bytes fed so far
  std::string again_;  // bytes to be read once more, from again_begin_ on
  int64_t again_begin_ = 0;
  size_t next_again_ = 0;
  int64_t taken_again_ = 0;  // how many bytes were read again
  bool found_ = false;       // the array
};

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_JSON_ELEMENTS_H_
