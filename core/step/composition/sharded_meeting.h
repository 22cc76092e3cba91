// MeetingRows: draws of what stretches with meetings add from lane to lane.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_MEETING_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_MEETING_H_

#include <cstdint>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/sharded_model.h"

namespace prism::step {

// Each row is one draw of the matrix M of sharded_barrier.h, without stalls and
// at compute factor 1, for each node of the ratio.
class MeetingRows {
 public:
  // Draws `rows` of them, a multiple of 32, for an item that meets and whose
  // law the load does not decide. `latest_weight` as for ShardedSampler.
  // Returns false, and the rows mean nothing, where the budget is over.
  bool Draw(const ShardedModel& model, const ShardedItem& item, int rows,
            uint64_t random_key, double latest_weight,
            const base::Budget& budget);

  int rows() const { return rows_; }

  // Seconds of row first, first + 1, ... for rows() of them, after the last of
  // which the first follows. Requires: 0 <= first < rows().
  const double* From(size_t ratio, size_t entry, int first) const {
    return seconds_[ratio][entry].data() + first;
  }

 private:
  bool DrawOneByOne(const ShardedModel& model, const ShardedItem& item,
                    uint64_t random_key, const base::Budget& budget);
  bool DrawEntries(const ShardedModel& model, const ShardedItem& item,
                   uint64_t random_key, double latest_weight,
                   const base::Budget& budget);

  int rows_ = 0;
  // [ratio][entry][row], all rows twice, one after the other.
  std::vector<std::vector<std::vector<double>>> seconds_;
};

// The scores of all entries of a meeting, which depend on each other by the
// copula: [first lane * lanes + last lane][i]. Empty where the budget is over.
class ScoreSource;
std::vector<std::vector<float>> EntryScores(const MeetingCopula& copula,
                                            int lanes, int samples,
                                            ScoreSource& scores,
                                            const base::Budget& budget);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_MEETING_H_
