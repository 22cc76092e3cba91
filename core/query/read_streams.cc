#include "core/query/read_streams.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/query/read_distribution.h"

namespace prism::query {
namespace {

using step::ProfileSegment;
using step::StepProfile;

constexpr int64_t kMostPrefetch = 1000;
// Ends of runs that a simulation remembers, over all ranks.
constexpr int64_t kMostRemembered = 1 << 24;

using Segments = std::vector<ProfileSegment>;

// What an operation may run; the parts of a backward also in a row.
std::vector<Segments> Phases(const StepProfile& profile) {
  Segments parts = profile.backward_input;
  parts.insert(parts.end(), profile.backward_weight.begin(),
               profile.backward_weight.end());
  return {profile.forward, profile.backward, std::move(parts)};
}

template <typename Is>
bool AnySegment(const StepProfile& profile, Is is) {
  for (const Segments& segments : Phases(profile)) {
    if (std::any_of(segments.begin(), segments.end(), is)) return true;
  }
  return false;
}

// Runs of the phase that gather.
int64_t GatheringRuns(const Segments& segments) {
  int64_t runs = 0;
  for (const ProfileSegment& segment : segments) {
    if (segment.gather) runs += segment.count;
  }
  return runs;
}

// Most runs from one that gathers to the next.
int64_t LongestGap(const Segments& segments) {
  int64_t longest = 1, gap = 1;
  for (const ProfileSegment& segment : segments) {
    gap = segment.gather ? 1 : gap + segment.count;
    longest = std::max(longest, gap);
  }
  return longest;
}

class StreamReader {
 public:
  StreamReader(const prism::v1::StepProfile& message, const FieldPath& path,
               Checker& checker, StepProfile& profile)
      : message_(message), path_(path), checker_(checker), profile_(profile) {}

  void Read() {
    const bool gathers = AnySegment(
        profile_, [](const auto& s) { return s.gather.has_value(); });
    const bool scatters = AnySegment(
        profile_, [](const auto& s) { return s.scatter.has_value(); });
    const bool overlaps =
        AnySegment(profile_, [](const auto& s) { return s.overlap; });
    const bool repeats = profile_.microbatches > 1;
    if (gathers || scatters || overlaps) CheckSchedule();
    ReadShard(gathers || scatters);
    ReadPrefetch();
    profile_.gather_once = gathers && repeats && message_.gather_once();
    profile_.scatter_once = scatters && repeats && message_.scatter_once();
    if (!message_.has_overlap_slowdown()) return;
    const double slowdown = checker_.AtLeast(message_.overlap_slowdown(), 1,
                                             path_.Field("overlap_slowdown"));
    if (gathers || scatters || overlaps) profile_.overlap_slowdown = slowdown;
  }

 private:
  void CheckSchedule() {
    checker_.Require(
        !step::IsContinuous(profile_.schedule), path_.Field("schedule"),
        absl::StrCat("is ", std::string(step::NameOf(profile_.schedule)),
                     ", whose steps follow each other without a flush; must be "
                     "another where segments have gather, scatter or overlap"));
  }

  void ReadShard(bool is_used) {
    const int64_t shard = message_.layout().shard();
    if (shard == 0) return;
    const FieldPath layout = path_.Field("layout");
    const FieldPath path = layout.Field("shard");
    if (!checker_.Require(
            profile_.data % shard == 0, path,
            absl::StrCat("is ", shard, "; must divide layout.data, which is ",
                         profile_.data))) {
      return;
    }
    if (is_used && shard != profile_.data) {
      profile_.shard = static_cast<int>(shard);
    }
  }

  void ReadPrefetch() {
    const FieldPath path = path_.Field("prefetch");
    const int64_t prefetch =
        checker_.Between(message_.prefetch(), 0, kMostPrefetch, path);
    int64_t remembered = 0;
    for (const Segments& segments : Phases(profile_)) {
      const int64_t ahead = std::min(prefetch, GatheringRuns(segments));
      profile_.prefetch = std::max(profile_.prefetch, ahead);
      remembered = std::max(remembered, ahead * LongestGap(segments));
    }
    checker_.Require(
        remembered <= kMostRemembered / profile_.ranks(), path,
        absl::StrCat("is ", prefetch, " with up to ",
                     remembered / std::max<int64_t>(prefetch, 1),
                     " runs of segments from one gather to the next; prefetch "
                     "times these times the ranks must be at most ",
                     kMostRemembered));
  }

  const prism::v1::StepProfile& message_;
  const FieldPath& path_;
  Checker& checker_;
  StepProfile& profile_;
};

}  // namespace

void ReadSegmentStreams(const prism::v1::Segment& message,
                        const FieldPath& path, Checker& checker,
                        ProfileSegment& segment) {
  const auto read = [&](bool has, const auto& law, const char* name,
                        std::optional<stats::Distribution>& to) {
    if (has) to = ReadDistribution(law, path.Field(name), checker);
  };
  read(message.has_gather(), message.gather(), "gather", segment.gather);
  read(message.has_scatter(), message.scatter(), "scatter", segment.scatter);
  read(message.has_reduce(), message.reduce(), "reduce", segment.reduce);
  checker.Require(!segment.reduce || segment.scatter, path.Field("reduce"),
                  "is set; must be unset unless scatter is set");
  segment.overlap = message.overlap();
  checker.Require(!segment.overlap || segment.sync != step::Sync::kData,
                  path.Field("overlap"),
                  "is true; must be false where sync is data");
  // Nobody waits for nothing.
  if (segment.sync == step::Sync::kNone && segment.collective.IsConstant() &&
      segment.collective.Mean() == 0) {
    segment.overlap = false;
  }
}

void ReadStreams(const prism::v1::StepProfile& message, const FieldPath& path,
                 Checker& checker, StepProfile& profile) {
  StreamReader(message, path, checker, profile).Read();
}

}  // namespace prism::query
