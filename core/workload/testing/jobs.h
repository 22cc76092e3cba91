// Jobs that several tests build on.
#ifndef PRISM_CORE_WORKLOAD_TESTING_JOBS_H_
#define PRISM_CORE_WORKLOAD_TESTING_JOBS_H_

#include "core/workload/job.h"

namespace prism::workload::testing {

// A GPT of the Megatron-LM papers: learned positions, biases, tied embeddings.
inline Model Gpt(int64_t layers, int64_t hidden, int64_t heads,
                 int64_t vocabulary = 51200) {
  Model model;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = heads;
  model.head_size = hidden / heads;
  model.ffn_hidden = 4 * hidden;
  model.vocabulary = vocabulary;
  model.position_embeddings = 2048;
  return model;
}

// A Llama 3: grouped queries, gated feed-forward, own head, no biases.
inline Model Llama3(int64_t layers, int64_t hidden, int64_t heads,
                    int64_t ffn_hidden) {
  Model model;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = 8;
  model.head_size = hidden / heads;
  model.ffn_hidden = ffn_hidden;
  model.gated_ffn = true;
  model.vocabulary = 128256;
  model.tied_embeddings = false;
  model.linear_bias = false;
  return model;
}

// Trained as in the papers: fp16, unfused attention, sequences of 2048.
inline Training MegatronTraining(int64_t global_batch, int64_t micro_batch,
                                 Recompute recompute) {
  Training training;
  training.sequence = 2048;
  training.global_batch = global_batch;
  training.micro_batch = micro_batch;
  training.precision = Precision::kFp16;
  training.recompute = recompute;
  training.attention = Attention::kUnfused;
  training.fp32_gradients = false;
  return training;
}

// The 22B model of arXiv 2205.05198 on eight GPUs.
inline Job Gpt22B(Recompute recompute = Recompute::kNone) {
  Job job;
  job.model = Gpt(48, 6144, 64);
  job.parallelism.tensor = 8;
  job.training = MegatronTraining(4, 4, recompute);
  return job;
}

}  // namespace prism::workload::testing

#endif  // PRISM_CORE_WORKLOAD_TESTING_JOBS_H_
