#include "core/trace/kineto/kernel_trace.h"

#include <algorithm>

namespace prism::kineto {

std::vector<StreamUse> StreamUses(const KernelTrace& trace) {
  std::vector<StreamUse> uses;
  for (const Stream& stream : trace.streams) uses.push_back({stream, 0, 0});
  for (const Activity& activity : trace.activities) {
    ++uses[activity.stream].activities;
    uses[activity.stream].busy_ns += activity.end_ns - activity.start_ns;
  }
  std::sort(uses.begin(), uses.end(),
            [](const StreamUse& a, const StreamUse& b) {
              return a.stream < b.stream;
            });
  return uses;
}

}  // namespace prism::kineto
