// PRISM_CHECK: what must hold if our own code is right.
//
// For broken invariants only, never for input: bad input is an absl::Status.
// A failed check prints the place and the condition and ends the process.
#ifndef PRISM_CORE_BASE_CHECK_H_
#define PRISM_CORE_BASE_CHECK_H_

namespace prism::base {

[[noreturn]] void CheckFailed(const char* file, int line,
                              const char* condition);

}  // namespace prism::base

#define PRISM_CHECK(condition)                                    \
  do {                                                            \
    if (!(condition)) {                                           \
      ::prism::base::CheckFailed(__FILE__, __LINE__, #condition); \
    }                                                             \
  } while (false)

#endif  // PRISM_CORE_BASE_CHECK_H_
