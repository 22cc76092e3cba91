#include "core/query/explanation_words.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>

namespace prism::query {
namespace {

namespace v1 = prism::v1;

// Savings are told where they are this share of the step and so many errors.
constexpr double kWorthTelling = 0.002;
constexpr double kSure = 3;
constexpr size_t kMostSavings = 5;
// Changes of a smaller share are none.
constexpr double kAsLong = 0.0005;

// A rank or stage is called slow, or a stage long, from here on.
constexpr double kNotableExcess = 1.005;

// What varies most by itself misleads where it makes less than this share of
// what the main cause makes.
constexpr double kMisleading = 0.5;
constexpr double kHardlyEver = 0.05;

std::string TimeText(double seconds) {
  for (const auto& [unit, size] :
       {std::pair{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}}) {
    if (std::abs(seconds) >= size) {
      return absl::StrFormat("%.4g %s", seconds / size, unit);
    }
  }
  return absl::StrFormat("%.4g s", seconds);
}

std::string PercentText(double share) {
  return absl::StrFormat("%.*f%%", std::abs(share) < 0.0995 ? 1 : 0,
                         100 * share);
}

// "the median step would be 1.2 s instead of 1.3 s, p95 1.4 s instead of 1.5 s"
std::string WouldBe(const v1::Explanation& explanation,
                    const v1::StepWithout& step) {
  const auto& is = explanation.step_time().quantiles();
  const auto change = [](double would, double was) {
    const double by = would / was - 1;
    if (std::abs(by) < kAsLong) return absl::StrCat("as long, ", TimeText(was));
    return absl::StrFormat("%s instead of %s (%+.1f%%)", TimeText(would),
                           TimeText(was), 100 * by);
  };
  return absl::StrCat("the median step would be ",
                      change(step.p50_seconds(), is.p50()), ", the p95 ",
                      change(step.p95_seconds(), is.p95()));
}

struct Saving {
  const v1::Cause* cause;
  double share;
};

// What there is less where the cause is typical, at the median or at p95, as a
// share of the step; 0 where it may be chance.
double SavingOf(const v1::Explanation& explanation, const v1::Cause& cause) {
  const auto& is = explanation.step_time().quantiles();
  const v1::StepWithout& step = cause.without();
  const auto share = [](double was, double would, double error) {
    const double saved = was - would;
    return saved > kSure * error && was > 0 ? saved / was : 0;
  };
  return std::max(
      share(is.p50(), step.p50_seconds(), step.p50_error_seconds()),
      share(is.p95(), step.p95_seconds(), step.p95_error_seconds()));
}

// What is said of a cause, up to what the step would be.
std::string Beginning(const v1::Cause& cause) {
  if (cause.by() == v1::CAUSE_BY_RANK) {
    return absl::StrFormat(
        "%s is %.2f times as slow as its peers: with a typical one in its "
        "place ",
        cause.name(), cause.excess());
  }
  if (cause.by() == v1::CAUSE_BY_STAGE && cause.excess() >= kNotableExcess) {
    return absl::StrFormat(
        "%s computes %.2f times as much as the median stage: were it as short, "
        "and steady, ",
        cause.name(), cause.excess());
  }
  const char* what = cause.by() == v1::CAUSE_BY_SHARED
                         ? ", a draw that many durations share,"
                         : "";
  return absl::StrFormat("%s%s makes %s of the variance: were it steady, ",
                         cause.name(), what,
                         PercentText(std::max(cause.share_of_variance(), 0.0)));
}

bool IsKind(const v1::Cause& cause) {
  return cause.by() == v1::CAUSE_BY_KIND ||
         cause.by() == v1::CAUSE_BY_COLLECTIVE;
}

void AddSavings(const v1::Explanation& explanation,
                std::vector<std::string>& sentences) {
  std::vector<Saving> savings;
  for (const v1::Cause& cause : explanation.causes()) {
    const double share = SavingOf(explanation, cause);
    if (share >= kWorthTelling) savings.push_back({&cause, share});
  }
  std::stable_sort(
      savings.begin(), savings.end(),
      [](const Saving& a, const Saving& b) { return a.share > b.share; });
  if (savings.size() > kMostSavings) savings.resize(kMostSavings);
  for (const Saving& saving : savings) {
    sentences.push_back(
        absl::StrCat(Beginning(*saving.cause),
                     WouldBe(explanation, saving.cause->without()), "."));
  }
}

void AddLongest(const v1::Explanation& explanation,
                std::vector<std::string>& sentences) {
  const v1::Cause* longest = nullptr;
  for (const v1::Cause& cause : explanation.causes()) {
    if (!IsKind(cause)) continue;
    if (longest == nullptr ||
        cause.share_of_mean() > longest->share_of_mean()) {
      longest = &cause;
    }
  }
  if (longest == nullptr || longest->share_of_mean() == 0) return;
  sentences.push_back(absl::StrFormat(
      "%s takes most of the mean step, %s: made 10%% faster, the step is about "
      "%s faster.",
      longest->name(), PercentText(longest->share_of_mean()),
      PercentText(longest->share_of_mean() / 10)));
}

void AddMisleading(const v1::Explanation& explanation,
                   std::vector<std::string>& sentences) {
  const v1::Cause* widest = nullptr;
  double most = 0;
  for (const v1::Cause& cause : explanation.causes()) {
    most = std::max(most, cause.share_of_variance());
    if (!IsKind(cause)) continue;
    if (widest == nullptr ||
        cause.own_deviation_seconds() > widest->own_deviation_seconds()) {
      widest = &cause;
    }
  }
  if (widest == nullptr || widest->own_deviation_seconds() <= 0 ||
      widest->share_of_variance() >= kMisleading * most) {
    return;
  }
  std::string why = "little of it reaches the end of the step.";
  if (explanation.paths() > 0 && widest->criticality() < kHardlyEver) {
    why = "the end of the step hardly ever waits for it.";
  }
  sentences.push_back(absl::StrCat(
      widest->name(), " varies most by itself, by ",
      TimeText(widest->own_deviation_seconds()), " on one rank, but makes ",
      PercentText(widest->share_of_variance()),
      " of the step's variance: ", why));
}

}  // namespace

std::vector<std::string> CauseSentences(const v1::Explanation& explanation) {
  std::vector<std::string> sentences;
  AddSavings(explanation, sentences);
  if (sentences.empty()) {
    sentences.push_back(
        "No single source stands out: with any of them typical the step would "
        "be as long, within what can be told.");
  }
  AddLongest(explanation, sentences);
  AddMisleading(explanation, sentences);
  return sentences;
}

std::string ChangeSentence(const std::string& what,
                           const v1::Explanation& explanation,
                           const v1::StepWithout& step) {
  return absl::StrCat(what, ": ", WouldBe(explanation, step), ".");
}

}  // namespace prism::query
