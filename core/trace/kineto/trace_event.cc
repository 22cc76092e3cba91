#include "core/trace/kineto/trace_event.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace prism::kineto {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostMicroseconds = int64_t{6'400'000'000'000'000};

// Fields of events that nothing here needs.
constexpr std::array<std::string_view, 16> kOtherFields = {
    "args",    "id",      "id2",   "bp",      "s",     "tts",
    "tdur",    "sf",      "esf",   "stack",   "cname", "estack",
    "bind_id", "flow_in", "scope", "flow_out"};

// A value as text: a number as written, a string as it is.
struct Scalar {
  std::string text;
  bool is_string = false;
  bool is_integer = false;
  int64_t integer = 0;
};

// Puts the scalars of an event where they belong. Depth 1 is the event, depth
// 2 its args, deeper ones the values of lists.
class EventReader : public nlohmann::json_sax<Json> {
 public:
  explicit EventReader(TraceEvent& event) : event_(event) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override {
    return Take({absl::StrCat(value), false, true, value});
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > INT64_MAX) return Take({absl::StrCat(value)});
    return Take(
        {absl::StrCat(value), false, true, static_cast<int64_t>(value)});
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Take({text});
  }
  bool string(string_t& text) override {
    Scalar scalar{std::move(text), true};
    scalar.is_integer = absl::SimpleAtoi(scalar.text, &scalar.integer);
    return Take(scalar);
  }
  bool binary(binary_t&) override { return true; }

  bool start_object(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override {
    if (depth_ == 3) list_is_open_ = !list_is_done_;
    return Open();
  }
  bool end_array() override {
    if (depth_ == 4 && list_is_open_) {
      list_is_open_ = false;
      list_is_done_ = true;
    }
    return Close();
  }

  bool key(string_t& key) override {
    if (depth_ == 1) {
      field_ = key;
      CheckField();
    } else if (depth_ == 2) {
      arg_ = key;
      list_is_open_ = list_is_done_ = false;
    }
    return true;
  }

  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line ..: .."
    problem_ = error.what();
    problem_ =
        problem_.substr(std::min(problem_.find("] ") + 2, problem_.size()));
    return false;
  }

 private:
  bool Open() {
    ++depth_;
    return true;
  }
  bool Close() {
    --depth_;
    return true;
  }

  void CheckField() {
    static constexpr std::array<std::string_view, 7> kFields = {
        "ph", "cat", "name", "pid", "tid", "ts", "dur"};
    const std::string_view field = field_;
    if (std::find(kFields.begin(), kFields.end(), field) != kFields.end())
      return;
    if (std::find(kOtherFields.begin(), kOtherFields.end(), field) ==
        kOtherFields.end())
      event_.unknown_fields.push_back(field_);
  }

  bool Take(const Scalar& scalar) {
    if (depth_ == 1) return TakeField(scalar);
    if (field_ != "args") return true;
    if (depth_ == 2) TakeArg(scalar);
    if (depth_ == 3) TakeListItem(scalar);
    if (depth_ == 4 && list_is_open_) TakeDimension(scalar);
    return true;
  }

  bool TakeField(const Scalar& scalar) {
    if (field_ == "ts") return TakeTime(scalar, event_.start_ns);
    if (field_ == "dur") return TakeTime(scalar, event_.duration_ns);
    if (field_ == "ph") event_.phase = scalar.text;
    if (field_ == "cat") event_.category = scalar.text;
    if (field_ == "name") event_.name = scalar.text;
    if (field_ == "pid") event_.process = scalar.text;
    if (field_ == "tid") event_.thread = scalar.text;
    return true;
  }

  bool TakeTime(const Scalar& scalar, std::optional<int64_t>& ns) {
    ns = NanosecondsOfMicroseconds(scalar.text);
    if (ns) return true;
    problem_ = absl::StrCat(field_, " is ", scalar.text.substr(0, 40),
                            "; must be microseconds");
    return false;
  }

  void TakeArg(const Scalar& scalar) {
    using Member = std::optional<int64_t> EventArgs::*;
    static constexpr std::array<std::pair<std::string_view, Member>, 7>
        kIntegers = {{{"correlation", &EventArgs::correlation},
                      {"device", &EventArgs::device},
                      {"stream", &EventArgs::stream},
                      {"bytes", &EventArgs::bytes},
                      {"In msg nelems", &EventArgs::elements_in},
                      {"Out msg nelems", &EventArgs::elements_out},
                      {"Group size", &EventArgs::group_size}}};
    if (scalar.is_integer) {
      for (const auto& [name, member] : kIntegers)
        if (name == arg_) event_.args.*member = scalar.integer;
    }
    if (arg_ == "Collective name") event_.args.collective = scalar.text;
    if (arg_ == "dtype") event_.args.element_type = scalar.text;
    if (arg_ == "Process Group Name") event_.args.group_name = scalar.text;
    if (arg_ == "Process Group Ranks") event_.args.group_ranks = scalar.text;
  }

  // "Input type": ["float", ""].
  void TakeListItem(const Scalar& scalar) {
    const bool first = event_.args.input_type.empty();
    if (arg_ == "Input type" && first && scalar.is_string)
      event_.args.input_type = scalar.text;
  }

  // "Input Dims": [[64, 3], []]: the first list counts.
  void TakeDimension(const Scalar& scalar) {
    if (arg_ != "Input Dims" || !scalar.is_integer || scalar.integer < 0)
      return;
    int64_t& elements = event_.args.input_elements.emplace(
        event_.args.input_elements.value_or(1));
    if (__builtin_mul_overflow(elements, scalar.integer, &elements))
      elements = INT64_MAX;
  }

  TraceEvent& event_;
  int depth_ = 0;
  std::string field_, arg_;
  bool list_is_open_ = false, list_is_done_ = false;
  std::string problem_;
};

// Digits of `text` as a number, up to kMostMicroseconds.
std::optional<int64_t> Digits(std::string_view text) {
  int64_t value = 0;
  for (const char c : text) {
    if (!absl::ascii_isdigit(c) || value > kMostMicroseconds / 10)
      return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// 1e6 and the like, which profilers do not write.
std::optional<int64_t> FromScientific(std::string_view number) {
  double value = 0;
  if (!absl::SimpleAtod({number.data(), number.size()}, &value) ||
      !(std::fabs(value) <= kMostMicroseconds))
    return std::nullopt;
  return std::llround(value * 1000);
}

}  // namespace

std::optional<int64_t> NanosecondsOfMicroseconds(std::string_view number) {
  if (number.find_first_of("eE") != std::string_view::npos)
    return FromScientific(number);
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const size_t point = std::min(number.find('.'), number.size());
  if (point == 0 || number.empty()) return std::nullopt;
  std::string fraction(number.substr(std::min(point + 1, number.size())));
  fraction.resize(3, '0');
  const auto whole = Digits(number.substr(0, point));
  const auto part = Digits(fraction);
  if (!whole || !part || *whole > kMostMicroseconds) return std::nullopt;
  const int64_t ns = *whole * 1000 + *part;
  return negative ? -ns : ns;
}

absl::Status ParseEvent(std::string_view text, TraceEvent* event) {
  *event = {};
  EventReader reader(*event);
  if (Json::sax_parse(text.begin(), text.end(), &reader))
    return absl::OkStatus();
  return absl::InvalidArgumentError(reader.problem());
}

DistributedInfo ParseDistributedInfo(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return {};
  const auto integer = [&json](const char* key) -> std::optional<int64_t> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) return {};
    return found->get<int64_t>();
  };
  return {integer("rank"), integer("world_size")};
}

}  // namespace prism::kineto
