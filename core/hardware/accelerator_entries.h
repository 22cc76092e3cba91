// The catalogue's entries by vendor, in any order. For accelerator.cc alone;
// everybody else asks AcceleratorCatalogue().
#ifndef PRISM_CORE_HARDWARE_ACCELERATOR_ENTRIES_H_
#define PRISM_CORE_HARDWARE_ACCELERATOR_ENTRIES_H_

#include <span>

#include "core/hardware/accelerator.h"

namespace prism::hardware {

inline constexpr double kTera = 1e12;
inline constexpr double kGiga = 1e9;
inline constexpr double kGib = 1024.0 * 1024 * 1024;

std::span<const Accelerator> NvidiaAccelerators();
std::span<const Accelerator> BlackwellAccelerators();
std::span<const Accelerator> OtherAccelerators();

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_ACCELERATOR_ENTRIES_H_
