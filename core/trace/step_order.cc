#include "core/trace/step_order.h"

#include <algorithm>
#include <tuple>

namespace prism::trace {
namespace {

auto OrderKey(const Operation& operation) {
  return std::tuple(operation.replica, operation.stage, operation.kind);
}

bool Before(const Operation& a, const Operation& b) {
  return std::tuple_cat(OrderKey(a), std::tuple(a.sequence)) <
         std::tuple_cat(OrderKey(b), std::tuple(b.sequence));
}

// Gives the operations of one worker and kind, [first, last), their numbers.
template <typename Iterator>
void Number(Iterator first, Iterator last) {
  std::stable_sort(first, last, [](const Operation& a, const Operation& b) {
    return a.start_seconds < b.start_seconds;
  });
  int32_t sequence = 0;
  for (Iterator i = first; i != last; ++i) i->sequence = sequence++;
}

}  // namespace

int64_t PutInOrder(Step& step) {
  auto& operations = step.operations;
  if (!std::is_sorted(operations.begin(), operations.end(), Before)) {
    std::stable_sort(operations.begin(), operations.end(), Before);
  }
  // Those without a sequence come first of their worker and kind.
  for (auto first = operations.begin(); first != operations.end();) {
    const auto last =
        std::find_if(first, operations.end(), [&](const Operation& other) {
          return OrderKey(other) != OrderKey(*first);
        });
    if (first->sequence == kNone) Number(first, last);
    first = last;
  }
  const auto end = std::unique(operations.begin(), operations.end(),
                               [](const Operation& a, const Operation& b) {
                                 return OrderKey(a) == OrderKey(b) &&
                                        a.sequence == b.sequence;
                               });
  const int64_t twice = operations.end() - end;
  operations.erase(end, operations.end());
  return twice;
}

}  // namespace prism::trace
