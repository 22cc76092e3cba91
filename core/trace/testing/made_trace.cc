#include "core/trace/testing/made_trace.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/trace/step_order.h"

namespace prism::trace {
namespace {

using Kind = OperationKind;

// Forwards and backwards of one stage in the order they run in: few forwards,
// then one of each in turn, then the backwards that are left.
std::vector<Operation> Order(const MadeJob& job, int stage) {
  const int p = job.sizes.pipeline, v = job.sizes.chunks;
  const int total = job.microbatches * v;
  const int warm_up = std::min(
      total, v == 1 ? p - stage - 1 : (p - stage - 1) * 2 + (v - 1) * p);
  const auto operation = [&](Kind kind, int k) {
    Operation made;
    const int chunk = (k % (p * v)) / p;
    made.kind = kind;
    made.stage = stage;
    made.chunk = static_cast<int16_t>(
        kind == Kind::kForwardCompute ? chunk : v - 1 - chunk);
    made.virtual_stage = made.chunk * p + stage;
    made.microbatch = (k / (p * v)) * p + k % p;
    made.sequence = k;
    return made;
  };
  std::vector<Operation> order;
  int forward = 0, backward = 0;
  while (forward < warm_up) {
    order.push_back(operation(Kind::kForwardCompute, forward++));
  }
  while (backward < total) {
    if (forward < total) {
      order.push_back(operation(Kind::kForwardCompute, forward++));
    }
    order.push_back(operation(Kind::kBackwardCompute, backward++));
  }
  return order;
}

// One replica without its closing operations.
class Replica {
 public:
  Replica(const MadeJob& job, int replica) : job_(job) {
    for (int stage = 0; stage < job.sizes.pipeline; ++stage) {
      for (Operation operation : Order(job, stage)) {
        operation.replica = replica;
        operation.duration_seconds = job.compute_seconds(operation);
        Add(operation);
      }
    }
  }

  std::vector<Operation> Timed() {
    while (Relax()) {
    }
    std::vector<Operation> all;
    for (const Compute& compute : computes_) {
      all.push_back(compute.operation);
      for (const Kind kind : {Send(compute), Receive(compute)}) {
        Operation transfer = compute.operation;
        transfer.kind = kind;
        transfer.chunk = kNone;
        transfer.virtual_stage = transfer.microbatch = kNone;
        const bool sends = kind == Send(compute);
        transfer.start_seconds =
            sends ? compute.send_start : compute.receive_start;
        transfer.duration_seconds =
            (sends ? compute.send_end : compute.receive_end) -
            transfer.start_seconds;
        // Without chunks the ends of the model record nothing.
        const bool nothing = (sends ? compute.to : compute.from) == nullptr;
        if (!nothing || job_.sizes.chunks > 1) all.push_back(transfer);
      }
    }
    return all;
  }

 private:
  struct Compute {
    Operation operation;
    double receive_start = 0, receive_end = 0, send_start = 0, send_end = 0;
    Compute* before = nullptr;     // on its stage
    Compute* same = nullptr;       // the one before of its direction
    Compute* after_two = nullptr;  // for the first backward
    Compute* from = nullptr;
    Compute* to = nullptr;
  };

  static bool IsForward(const Compute& compute) {
    return compute.operation.kind == Kind::kForwardCompute;
  }
  static Kind Send(const Compute& compute) {
    return IsForward(compute) ? Kind::kForwardSend : Kind::kBackwardSend;
  }
  static Kind Receive(const Compute& compute) {
    return IsForward(compute) ? Kind::kForwardReceive : Kind::kBackwardReceive;
  }

  void Add(const Operation& operation) {
    if (computes_.empty()) {
      computes_.reserve(static_cast<size_t>(
          2 * job_.microbatches * job_.sizes.chunks * job_.sizes.pipeline));
    }
    computes_.push_back({operation});
    Compute& added = computes_.back();
    std::vector<Compute*>& stage = stages_[operation.stage];
    if (!stage.empty()) added.before = stage.back();
    for (Compute* other : stage) {
      if (other->operation.kind == operation.kind) added.same = other;
    }
    if (!IsForward(added) && added.same == nullptr && stage.size() >= 2) {
      added.after_two = stage[stage.size() - 2];
    }
    stage.push_back(&added);
    by_key_[Key(operation, 0)] = &added;
    Join(added, by_key_[Key(operation, -1)], !IsForward(added));
    Join(added, by_key_[Key(operation, 1)], IsForward(added));
  }

  static std::tuple<Kind, int, int> Key(const Operation& operation, int step) {
    return {operation.kind, operation.virtual_stage + step,
            operation.microbatch};
  }

  static void Join(Compute& one, Compute* other, bool sends) {
    if (other == nullptr) return;
    (sends ? one.to : one.from) = other;
    (sends ? other->from : other->to) = &one;
  }

  static double End(const Compute* compute) {
    return compute == nullptr ? 0 : compute->operation.end_seconds();
  }

  // True where a time moved.
  bool Relax() {
    bool moved = false;
    const auto set = [&moved](double& time, double value) {
      moved = moved || value > time + 1e-12;
      time = std::max(time, value);
    };
    for (Compute& c : computes_) {
      set(c.receive_start,
          std::max({End(c.same), c.same ? c.same->receive_end : 0,
                    End(c.after_two)}));
      set(c.send_start, std::max({End(&c), c.same ? c.same->send_end : 0.0,
                                  End(c.after_two)}));
      set(c.receive_end, c.from
                             ? std::max(c.receive_start, c.from->send_start) +
                                   job_.transfer_seconds
                             : c.receive_start);
      set(c.send_end, c.to ? std::max(c.send_start, c.to->receive_start) +
                                 job_.transfer_seconds
                           : c.send_start);
      set(c.operation.start_seconds,
          std::max(End(c.before), c.from ? c.receive_end : 0));
    }
    return moved;
  }

  const MadeJob& job_;
  std::vector<Compute> computes_;
  std::map<int, std::vector<Compute*>> stages_;
  std::map<std::tuple<Kind, int, int>, Compute*> by_key_;
};

// Appends what each worker does when its computes are done.
void Close(const MadeJob& job, Step& step) {
  std::map<std::pair<int, int>, double> ends;
  for (const Operation& operation : step.operations) {
    if (!IsCompute(operation.kind)) continue;
    double& end = ends[{operation.replica, operation.stage}];
    end = std::max(end, operation.end_seconds());
  }
  const auto add = [&](Kind kind, std::pair<int, int> worker, double start) {
    Operation made;
    made.kind = kind;
    made.replica = worker.first;
    made.stage = worker.second;
    made.start_seconds = ends[worker];
    made.duration_seconds = start + job.closing_seconds - ends[worker];
    step.operations.push_back(made);
  };
  // The data group of a stage, then all workers, then each its optimizer.
  for (const Kind kind :
       {Kind::kGradsReduceScatter, Kind::kOptimizerClip, Kind::kOptimizer}) {
    std::map<int, double> latest;
    const auto group = [kind](std::pair<int, int> worker) {
      return kind == Kind::kGradsReduceScatter ? worker.second : 0;
    };
    for (const auto& [worker, end] : ends) {
      double& last = latest[group(worker)];
      last = std::max(last, end);
    }
    std::map<std::pair<int, int>, double> starts = ends;
    for (auto& [worker, start] : starts) {
      if (kind != Kind::kOptimizer) start = latest[group(worker)];
      add(kind, worker, start);
    }
    for (auto& [worker, end] : ends) {
      end = starts[worker] + job.closing_seconds;
    }
  }
}

}  // namespace

Step MakeStep(const MadeJob& job, int64_t number) {
  Step step;
  step.number = number;
  for (int replica = 0; replica < job.sizes.data; ++replica) {
    for (const Operation& operation : Replica(job, replica).Timed()) {
      step.operations.push_back(operation);
    }
  }
  Close(job, step);
  for (Operation& operation : step.operations) {
    // As frameworks number ranks: replicas next to each other.
    operation.rank = operation.stage * job.sizes.data + operation.replica;
  }
  PutInOrder(step);
  return step;
}

std::string CsvHeading() {
  return "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,"
         "gmc\n";
}

std::string CsvRows(const Step& step) {
  std::string rows;
  for (const Operation& o : step.operations) {
    absl::StrAppendFormat(
        &rows, "%d,%d,%d,%d,%s,%.6f,%.6f,%d,%d,%d,%d\n", o.replica, o.stage,
        o.rank, step.number, std::string(KindName(o.kind)), o.start_seconds,
        o.duration_seconds, o.sequence, o.chunk, o.microbatch, o.virtual_stage);
  }
  return rows;
}

}  // namespace prism::trace
