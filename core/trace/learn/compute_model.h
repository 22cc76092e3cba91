// ComputeModel: what the computes of observed steps are made of.
//
//   duration = typical x effect of the step x rest
//
// `typical` belongs to a component of the replicas whose ranks are alike, and
// to a rank alone where it differs from the others. The effect of a step is
// what all replicas share in it. The rest is drawn for each micro-batch from
// those observed: at the same place for all components that were found to
// share it (a load), whole sequences where order matters, and otherwise in
// any order. Values are logarithms.
#ifndef PRISM_CORE_TRACE_LEARN_COMPUTE_MODEL_H_
#define PRISM_CORE_TRACE_LEARN_COMPUTE_MODEL_H_

#include <cstddef>
#include <vector>

#include "core/trace/learn/compute_table.h"
#include "core/trace/learn/finding.h"

namespace prism::trace {

// Components whose rest is drawn together.
struct Bundle {
  std::vector<size_t> components;
  // Micro-batches follow each other as they were observed; a replica's step
  // is drawn whole.
  bool keeps_order = false;
  // A replica's step is drawn whole, its micro-batches in any order: they have
  // something in common, or make up for each other.
  bool keeps_step = false;
};

struct ComputeModel {
  TableShape shape;
  std::vector<Component> components;
  std::vector<double> typical;  // by replica and component
  std::vector<bool> distinct;   // the same: differs from the others
  // By replica: draws its rest from its own; others draw from all others.
  std::vector<bool> own_rest;
  std::vector<double> step_effect;  // by step and component
  std::vector<double> rest;         // by Row() and micro-batch
  std::vector<Bundle> bundles;
  // Whether the components of a micro-batch share its load, by what that was
  // found for.
  bool shares_forward = false;   // all forwards
  bool shares_backward = false;  // all backwards
  bool shares_both = false;      // forwards with backwards

  bool IsDistinct(size_t replica, size_t component) const {
    return distinct[replica * shape.components + component];
  }
  double Typical(size_t replica, size_t component) const {
    return typical[replica * shape.components + component];
  }
};

// Tests that LearnComputes makes.
size_t ComputeTests(const TableShape& shape);

ComputeModel LearnComputes(const ComputeTable& table, Judge& judge);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_COMPUTE_MODEL_H_
