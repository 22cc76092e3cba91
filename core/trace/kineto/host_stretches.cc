#include "core/trace/kineto/host_stretches.h"

#include <algorithm>

namespace prism::kineto {
namespace {

// The last stretch that begins at or before `at`, if it holds it.
template <typename Stretch>
const Stretch* Holding(const std::vector<Stretch>& stretches, int64_t at) {
  auto next = std::upper_bound(
      stretches.begin(), stretches.end(), at,
      [](int64_t t, const Stretch& s) { return t < s.start_ns; });
  if (next == stretches.begin()) return nullptr;
  const Stretch& last = *std::prev(next);
  return at <= last.end_ns ? &last : nullptr;
}

}  // namespace

void HostStretches::Add(int32_t thread, int64_t start_ns, int64_t end_ns,
                        int32_t value) {
  threads_[thread].all.push_back({start_ns, end_ns, value});
}

void HostStretches::Close() {
  for (auto& [id, thread] : threads_) {
    std::stable_sort(thread.all.begin(), thread.all.end(),
                     [](const Stretch& a, const Stretch& b) {
                       return a.start_ns < b.start_ns ||
                              (a.start_ns == b.start_ns && a.end_ns > b.end_ns);
                     });
    for (const Stretch& stretch : thread.all) {
      if (thread.outer.empty() || stretch.start_ns > thread.outer.back().end_ns)
        thread.outer.push_back(stretch);
    }
  }
}

int32_t HostStretches::Find(int32_t thread, int64_t at_ns) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return -1;
  if (const Stretch* inner = Holding(found->second.all, at_ns))
    return inner->value;
  const Stretch* outer = Holding(found->second.outer, at_ns);
  return outer == nullptr ? -1 : outer->value;
}

}  // namespace prism::kineto
