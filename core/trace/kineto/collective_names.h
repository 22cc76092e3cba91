// What the names of kernels and calls say about collectives.
#ifndef PRISM_CORE_TRACE_KINETO_COLLECTIVE_NAMES_H_
#define PRISM_CORE_TRACE_KINETO_COLLECTIVE_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace prism::kineto {

// Whether a kernel of this name communicates: those of NCCL, of RCCL (which
// keeps NCCL's names or has its own) and of MSCCL.
bool IsCommunicationKernel(std::string_view name);

// "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast",
// "reduce", "gather", "scatter", "barrier" or "send-recv", from the name of a
// kernel ("ncclKernel_AllReduce_RING_LL_Sum_float(..)"), of a call
// ("nccl:_all_gather_base") or of a collective ("allreduce"); "unknown" where
// none is in it.
std::string CollectiveKind(std::string_view name);

// Bytes of one element: of "Float", "c10::BFloat16", "unsigned char", "long".
// 0 where the type is not known.
int64_t ElementBytes(std::string_view type);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_COLLECTIVE_NAMES_H_
