#include "core/trace/kineto/collective_names.h"

#include <gtest/gtest.h>

#include <string>

namespace prism::kineto {
namespace {

struct Case {
  const char* name;
  bool communicates;
  const char* kind;
};

// Names of NCCL 2.10 to 2.21, RCCL, MSCCL, and of PyTorch's calls.
constexpr Case kNames[] = {
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", true,
     "all-reduce"},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", true, "all-gather"},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", true, "reduce-scatter"},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", true, "send-recv"},
    {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)", true, "broadcast"},
    {"ncclKernel_Reduce_RING_LL_Sum_float(x)", true, "reduce"},
    {"ncclDevKernel_Generic_1(ncclDevComm*, allreduce)", true, "unknown"},
    {"rcclGenericKernel<1>(x)", true, "unknown"},
    {"mscclKernel_Sum_half_Simple_false(x)", true, "unknown"},
    {"nccl:all_reduce", true, "all-reduce"},
    {"nccl:_all_gather_base", true, "all-gather"},
    {"nccl:_reduce_scatter_base", true, "reduce-scatter"},
    {"nccl:all_to_all", true, "all-to-all"},
    {"nccl:send 0->1", true, "send-recv"},
    {"nccl:recv 1<-0", true, "send-recv"},
    {"nccl:gather", true, "gather"},
    {"allreduce", false, "all-reduce"},
    {"all_to_allv", false, "all-to-all"},
    {"barrier", false, "barrier"},
    {"send", false, "send-recv"},
    {"volta_sgemm_64x64_nt", false, "unknown"},
    {"Cijk_Alik_Bljk_SB_Bias", false, "unknown"},
};

TEST(CollectiveNamesTest, ReadsKindsOffNames) {
  for (const Case& test : kNames) {
    EXPECT_EQ(IsCommunicationKernel(test.name), test.communicates) << test.name;
    EXPECT_EQ(CollectiveKind(test.name), test.kind) << test.name;
  }
}

TEST(CollectiveNamesTest, KnowsElementTypes) {
  struct Type {
    const char* name;
    int64_t bytes;
  };
  for (const Type& type : {Type{"Float", 4},
                           {"c10::BFloat16", 2},
                           {"unsigned char", 1},
                           {"long", 8},
                           {"Half", 2},
                           {"Double", 8},
                           {"Byte", 1},
                           {"Int", 4},
                           {"QInt3", 0},
                           {"", 0}})
    EXPECT_EQ(ElementBytes(type.name), type.bytes) << type.name;
}

}  // namespace
}  // namespace prism::kineto
