#include "client/import/megatron_options.h"

#include <algorithm>
#include <array>
#include <utility>

namespace prism::import {
namespace {

constexpr OptionUse kRead = OptionUse::kRead;
constexpr OptionUse kIgnored = OptionUse::kIgnored;
constexpr OptionUse kLeftOut = OptionUse::kLeftOut;
constexpr OptionUse kRefused = OptionUse::kRefused;
constexpr OptionUse kRefusedOver1 = OptionUse::kRefusedOver1;

constexpr std::string_view kExperts = "a mixture of experts";
constexpr std::string_view kTwoStacks = "a model with an encoder and a decoder";
constexpr std::string_view kVision = "a model with a vision encoder";
constexpr std::string_view kPartlyTrained =
    "training that updates a part of the parameters";
constexpr std::string_view kStateSpace = "state-space layers";

// Exact names come before patterns; the first match counts.
constexpr auto kRules = std::to_array<OptionRule>({
    // The model.
    {"num-layers", kRead},
    {"hidden-size", kRead},
    {"ffn-hidden-size", kRead},
    {"num-attention-heads", kRead},
    {"kv-channels", kRead},
    {"group-query-attention", kRead},
    {"num-query-groups", kRead},
    {"num-key-value-heads", kRead},
    {"swiglu", kRead},
    {"quick-geglu", kRead},
    {"glu-activation", kRead},
    {"seq-length", kRead},
    {"max-position-embeddings", kRead},
    {"position-embedding-type", kRead},
    {"use-rotary-position-embeddings", kRead},
    {"no-position-embedding", kRead},
    {"untie-embeddings-and-output-weights", kRead},
    {"disable-bias-linear", kRead},
    {"vocab-size", kRead},
    {"padded-vocab-size", kRead},
    {"pad-vocab-size-to", kRead},
    {"make-vocab-size-divisible-by", kRead},
    {"tokenizer-type", kRead},
    {"tokenizer-name-or-path", kRead},
    {"tokenizer-model", kRead},
    // How it is split.
    {"tensor-model-parallel-size", kRead},
    {"model-parallel-size", kRead},
    {"pipeline-model-parallel-size", kRead},
    {"num-layers-per-virtual-pipeline-stage", kRead},
    {"num-virtual-stages-per-pipeline-rank", kRead},
    {"pp-partition-method", kRead},
    {"sequence-parallel", kRead},
    {"use-distributed-optimizer", kRead},
    {"deepspeed", kRead},
    {"zero-stage", kRead},
    {"context-parallel-size", kRead},
    {"ds-sequence-parallel-size", kRead},
    {"cp-comm-type", kRead},
    {"decoder-first-pipeline-num-layers", kRead},
    {"decoder-last-pipeline-num-layers", kRead},
    {"account-for-embedding-in-pipeline-split", kRead},
    {"account-for-loss-in-pipeline-split", kRead},
    {"standalone-embedding-stage", kRead},
    {"use-megatron-fsdp", kRead},
    {"use-custom-fsdp", kRead},
    {"use-torch-fsdp2", kRead},
    {"data-parallel-sharding-strategy", kRead},
    {"num-distributed-optimizer-instances", kRead},
    {"outer-dp-sharding-strategy", kRead},
    {"overlap-grad-reduce", kRead},
    {"overlap-param-gather", kRead},
    {"tp-comm-overlap", kRead},
    {"no-overlap-p2p-communication", kRead},
    {"use-tp-pp-dp-mapping", kRead},
    {"nnodes", kRead},
    {"nproc_per_node", kRead},
    {"nproc-per-node", kRead},
    {"DDP-impl", kRead},
    // How it is trained.
    {"micro-batch-size", kRead},
    {"global-batch-size", kRead},
    {"fp16", kRead},
    {"bf16", kRead},
    {"fp8-format", kRead},
    {"accumulate-allreduce-grads-in-fp32", kRead},
    {"grad-reduce-in-bf16", kRead},
    {"recompute-activations", kRead},
    {"recompute-granularity", kRead},
    {"recompute-method", kRead},
    {"recompute-num-layers", kRead},
    {"recompute-modules", kRead},
    {"checkpoint-activations", kRead},
    {"activations-checkpoint-method", kRead},
    {"activations-checkpoint-num-layers", kRead},
    {"attention-backend", kRead},
    {"use-flash-attn", kRead},
    {"use-flash-attn-v2", kRead},
    {"transformer-impl", kRead},
    {"use-mcore-models", kRead},
    {"use-te", kRead},
    {"fp4-format", kRead},
    {"attention-dropout", kRead},
    {"hidden-dropout", kRead},
    {"cross-entropy-loss-fusion", kRead},
    {"cross-entropy-fusion-impl", kRead},
    {"optimizer-cpu-offload", kRead},
    {"optimizer-offload-fraction", kRead},
    {"cpu-optimizer", kRead},

    // Not modelled.
    {"num-experts", kRefusedOver1, kExperts},
    {"expert-model-parallel-size", kRefusedOver1, kExperts},
    {"expert-tensor-parallel-size", kRefusedOver1, kExperts},
    {"moe-expert-parallel-size", kRefusedOver1, kExperts},
    {"encoder-num-layers", kRefused, kTwoStacks},
    {"decoder-num-layers", kRefused, kTwoStacks},
    {"encoder-seq-length", kRefused, kTwoStacks},
    {"decoder-seq-length", kRefused, kTwoStacks},
    {"pipeline-model-parallel-split-rank", kRefused, kTwoStacks},
    {"vision-model-type", kRefused, kVision},
    {"language-model-type", kRefused, kVision},
    {"img-h", kRefused, kVision},
    {"multi-latent-attention", kRefused, "multi-latent attention"},
    {"mtp-num-layers", kRefused, "multi-token prediction"},
    {"window-size", kRefused, "attention over a sliding window"},
    {"hybrid-*", kRefused, kStateSpace},
    {"is-hybrid-model", kRefused, kStateSpace},
    {"mamba-*", kRefused, kStateSpace},
    {"heterogeneous-layers-config-*", kRefused, "layers that differ"},
    {"pipeline-model-parallel-layout", kRefused,
     "pipeline stages given one by one"},
    {"bitfit", kRefused, kPartlyTrained},
    {"freeze-LM", kRefused, kPartlyTrained},
    {"freeze-ViT", kRefused, kPartlyTrained},
    {"lora-*", kRefused, kPartlyTrained},
    {"eval-only", kRefused, "evaluation without training"},
    {"skip-train", kRefused, "evaluation without training"},
    {"cpu-offloading", kRefused, "activations moved to the host"},
    {"hierarchical-context-parallel-sizes", kRefused,
     "sequences split on two levels"},
    {"torch-fsdp2-no-reshard-after-forward", kRefused,
     "gathered weights kept until the backward"},
    {"retro-*", kRefused, "retrieval from a database"},
    {"bert-*", kRefused, "an encoder model (BERT)"},

    // No field in a job.
    {"rampup-batch-size", kLeftOut, "the job has the final batch size"},
    {"step-batch-size-schedule", kLeftOut, "the job has --global-batch-size"},
    {"distribute-checkpointed-activations", kLeftOut, ""},
    {"distribute-saved-activations", kLeftOut, ""},
    {"partition-activations", kLeftOut, ""},
    {"overlap-p2p-communication-warmup-flush", kLeftOut, ""},
    {"delay-grad-reduce", kLeftOut, ""},
    {"fp8-param-gather", kLeftOut, ""},
    {"enable-cuda-graph", kLeftOut, ""},
    {"use-nccl-ub", kLeftOut, ""},
    {"add-qkv-bias", kLeftOut, ""},

    // Optimizer, schedule and data.
    {"lr", kIgnored},
    {"lr-*", kIgnored},
    {"min-lr", kIgnored},
    {"decoupled-*", kIgnored},
    {"adam-*", kIgnored},
    {"optimizer", kIgnored},
    {"override-*", kIgnored},
    {"weight-decay*", kIgnored},
    {"clip-grad", kIgnored},
    {"init-method-*", kIgnored},
    {"loss-scale*", kIgnored},
    {"initial-loss-scale", kIgnored},
    {"use-loss-scaling", kIgnored},
    {"calculate-per-token-loss", kIgnored},
    {"eod-mask-loss", kIgnored},
    {"norm-target-loss", kIgnored},
    {"seed", kIgnored},
    {"split", kIgnored},
    {"train-*", kIgnored},
    {"valid-*", kIgnored},
    {"test-*", kIgnored},
    {"data-*", kIgnored},
    {"dataloader-*", kIgnored},
    {"repeated-dataloader", kIgnored},
    {"num-workers", kIgnored},
    {"no-mmap-bin-files", kIgnored},
    {"no-create-attention-mask-in-dataloader", kIgnored},
    {"vocab-file", kIgnored},
    {"merge-file", kIgnored},
    {"tokenizer-*", kIgnored},
    {"tiktoken-*", kIgnored},
    {"finetune", kIgnored},
    {"reset-*", kIgnored},
    // Checkpoints, logs and the end of the run.
    {"save*", kIgnored},
    {"load*", kIgnored},
    {"pretrained-checkpoint", kIgnored},
    {"no-load-*", kIgnored},
    {"no-save-*", kIgnored},
    {"use-checkpoint-args", kIgnored},
    {"universal-checkpoint", kIgnored},
    {"auto-detect-ckpt-format", kIgnored},
    {"ckpt-*", kIgnored},
    {"dist-ckpt-*", kIgnored},
    {"eval-*", kIgnored},
    {"exit-*", kIgnored},
    {"log-*", kIgnored},
    {"logging-*", kIgnored},
    {"tensorboard-*", kIgnored},
    {"wandb-*", kIgnored},
    {"one-logger-*", kIgnored},
    {"timing-*", kIgnored},
    {"profile*", kIgnored},
    {"record-memory-*", kIgnored},
    {"kill-switch-path", kIgnored},
    {"no-check-for-nan-in-loss-and-grad", kIgnored},
    {"manual-gc*", kIgnored},
    {"empty-unused-memory-level", kIgnored},
    // Launchers.
    {"master_*", kIgnored},
    {"master-*", kIgnored},
    {"node_rank", kIgnored},
    {"node-rank", kIgnored},
    {"rdzv_*", kIgnored},
    {"rdzv-*", kIgnored},
    {"max_restarts", kIgnored},
    {"tee", kIgnored},
    {"distributed-backend", kIgnored},
    {"distributed-timeout-minutes", kIgnored},
    {"local_rank", kIgnored},
    {"deepspeed_config", kIgnored},
    {"deepspeed-config", kIgnored},
    {"deepspeed-activation-checkpointing", kIgnored},
    {"container-*", kIgnored},
    {"mpi", kIgnored},
    {"wait", kIgnored},
    {"kill-on-bad-exit", kIgnored},
    {"jobid", kIgnored},
    {"output", kIgnored},
    {"error", kIgnored},
    {"auto-resume", kIgnored},
    // Layers whose time is not told apart.
    {"normalization", kIgnored},
    {"norm-epsilon", kIgnored},
    {"layernorm-epsilon", kIgnored},
    {"apply-layernorm-1p", kIgnored},
    {"embed-layernorm", kIgnored},
    {"qk-layernorm", kIgnored},
    {"rotary-*", kIgnored},
    {"use-rope-scaling", kIgnored},
    {"rope-*", kIgnored},
    {"no-rope-fusion", kIgnored},
    {"no-masked-softmax-fusion", kIgnored},
    {"no-bias-gelu-fusion", kIgnored},
    {"no-bias-dropout-fusion", kIgnored},
    {"no-bias-swiglu-fusion", kIgnored},
    {"no-gradient-accumulation-fusion", kIgnored},
    {"no-query-key-layer-scaling", kIgnored},
    {"apply-query-key-layer-scaling", kIgnored},
    {"attention-softmax-in-fp32", kIgnored},
    {"abort-on-unmet-fused-kernel-constraints", kIgnored},
    {"sync-tp-duplicated-parameters", kIgnored},
    {"fp8-*", kIgnored},
    {"fp4-*", kIgnored},
    {"moe-*", kIgnored},
    {"checkpoint-num-layers", kIgnored},
});

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

constexpr std::string_view kArguments =
    "Megatron-LM megatron/training/arguments.py";
constexpr std::string_view kPretrain =
    "Megatron-LM pretrain_gpt.py, args_defaults";

constexpr auto kDefaults = std::to_array<OptionDefault>({
    {"tensor-model-parallel-size", "1", kArguments},
    {"pipeline-model-parallel-size", "1", kArguments},
    {"global-batch-size", "micro-batch-size * data-parallel size", kArguments},
    {"ffn-hidden-size",
     "4 * hidden-size; with --swiglu 8/3 * hidden-size rounded down to a "
     "multiple of 64",
     kArguments},
    {"kv-channels", "hidden-size / num-attention-heads", kArguments},
    {"num-query-groups", "num-attention-heads; 1 with --group-query-attention",
     kArguments},
    {"position-embedding-type", "learned_absolute", kArguments},
    {"tokenizer-type", "GPT2BPETokenizer", kPretrain},
    {"make-vocab-size-divisible-by", "128", kArguments},
    {"untie-embeddings-and-output-weights", "false", kArguments},
    {"disable-bias-linear", "false", kArguments},
    {"sequence-parallel", "false, and always with tensor-model-parallel-size 1",
     kArguments},
    {"use-distributed-optimizer", "false", kArguments},
    {"context-parallel-size", "1", kArguments},
    {"cp-comm-type", "p2p", kArguments},
    {"data-parallel-sharding-strategy", "no_shard", kArguments},
    {"recompute-granularity", "none", kArguments},
    {"activations-checkpoint-num-layers", "1", kArguments},
    {"attention-dropout", "0.1", kArguments},
    {"hidden-dropout", "0.1", kArguments},
    {"fp16, bf16", "false: fp32", kArguments},
    {"accumulate-allreduce-grads-in-fp32",
     "true with --bf16 unless --grad-reduce-in-bf16, false otherwise",
     kArguments},
    {"transformer-impl",
     "transformer_engine (megatron-core, flash attention); local (megatron-lm, "
     "unfused) in scripts that give --deepspeed, --DDP-impl, "
     "--checkpoint-activations or --activations-checkpoint-method",
     "Megatron-LM megatron/training/arguments.py; those options went before "
     "it came"},
    {"pp-partition-method", "type:transformer",
     "Megatron-DeepSpeed megatron/model/gpt_model.py"},
});

constexpr auto kTokenizers = std::to_array<std::pair<std::string_view, int>>({
    {"GPT2BPETokenizer", 50257},
    {"Llama2Tokenizer", 32000},
    {"gpt2", 50257},
    {"t5-small", 32100},
    {"meta-llama/Llama-2-7b-hf", 32000},
    {"meta-llama/Llama-2-13b-hf", 32000},
    {"meta-llama/Llama-2-70b-hf", 32000},
    {"meta-llama/Meta-Llama-3-8B", 128256},
    {"meta-llama/Meta-Llama-3-70B", 128256},
    {"meta-llama/Llama-3.1-8B", 128256},
    {"meta-llama/Llama-3.1-8B-Instruct", 128256},
    {"meta-llama/Llama-3.1-70B", 128256},
    {"meta-llama/Llama-3.1-405B", 128256},
    {"bigscience/bloom", 250680},
});

}  // namespace

const OptionRule* FindRule(std::string_view name) {
  const auto found = std::find_if(
      kRules.begin(), kRules.end(),
      [&](const OptionRule& rule) { return Matches(rule.name, name); });
  return found == kRules.end() ? nullptr : &*found;
}

std::span<const OptionDefault> Defaults() { return kDefaults; }

std::string DefaultOf(std::string_view option) {
  for (const OptionDefault& entry : Defaults()) {
    if (entry.option == option) return std::string(entry.value);
  }
  return "";
}

int KnownTokenizerSize(std::string_view name) {
  for (const auto& [known, size] : kTokenizers) {
    if (known == name) return size;
  }
  return 0;
}

}  // namespace prism::import
