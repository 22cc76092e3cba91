#include "core/query/read_distribution.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <utility>
#include <vector>

#include "core/query/document_names.h"
#include "core/query/node.h"

namespace prism::query {
namespace {

using stats::Distribution;

constexpr int kMostSamples = 1'000'000;
constexpr int kMostComponents = 1'000;
constexpr int kDeepestMixture = 8;

// -0 and 0 are one value.
double Unsigned(double value) { return value == 0 ? 0 : value; }

class DistributionReader {
 public:
  explicit DistributionReader(Checker& checker) : checker_(checker) {}

  Distribution Read(const prism::v1::Distribution& message,
                    const FieldPath& path, int mixtures_around) {
    using Kind = prism::v1::Distribution;
    switch (message.kind_case()) {
      case Kind::kConstant:
        return Distribution::MakeConstant(
            NotNegative(message.constant(), path));
      case Kind::kNormal:
        return Read(message.normal(), path.Field("normal"));
      case Kind::kLognormal:
        return Read(message.lognormal(), path.Field("lognormal"));
      case Kind::kShiftedExponential:
        return Read(message.shifted_exponential(),
                    path.Field("shifted_exponential"));
      case Kind::kGamma:
        return Read(message.gamma(), path.Field("gamma"));
      case Kind::kEmpirical:
        return Read(message.empirical(), path.Field("empirical"));
      case Kind::kMixture:
        return Read(message.mixture(), path.Field("mixture"),
                    mixtures_around + 1);
      case Kind::KIND_NOT_SET:
        break;
    }
    checker_.Fail(path,
                  absl::StrCat("is empty; must be a number or one of ",
                               absl::StrJoin(Keys(*Kind::descriptor()), ", ")));
    return {};
  }

 private:
  double NotNegative(double value, const FieldPath& path) {
    return Unsigned(checker_.AtLeast(value, 0, path));
  }
  double Positive(double value, const FieldPath& path) {
    return checker_.Above(value, 0, path);
  }

  Distribution Read(const prism::v1::Normal& m, const FieldPath& path) {
    const double mean = Positive(m.mean(), path.Field("mean"));
    return Distribution::MakeNormal(mean,
                                    NotNegative(m.sd(), path.Field("sd")));
  }

  Distribution Read(const prism::v1::Lognormal& m, const FieldPath& path) {
    const double mean = Positive(m.mean(), path.Field("mean"));
    return Distribution::MakeLognormal(mean,
                                       NotNegative(m.cv(), path.Field("cv")));
  }

  Distribution Read(const prism::v1::ShiftedExponential& m,
                    const FieldPath& path) {
    const double shift = NotNegative(m.shift(), path.Field("shift"));
    return Distribution::MakeShiftedExponential(
        shift, Positive(m.mean_excess(), path.Field("mean_excess")));
  }

  Distribution Read(const prism::v1::Gamma& m, const FieldPath& path) {
    const double mean = Positive(m.mean(), path.Field("mean"));
    return Distribution::MakeGamma(mean, NotNegative(m.cv(), path.Field("cv")));
  }

  Distribution Read(const prism::v1::Empirical& m, const FieldPath& path) {
    const FieldPath list = path.Field("samples");
    if (!CheckSize(m.samples_size(), kMostSamples, list)) return {};
    std::vector<double> samples;
    samples.reserve(static_cast<size_t>(m.samples_size()));
    for (int i = 0; i < m.samples_size(); ++i) {
      samples.push_back(NotNegative(m.samples(i), list.Item(i)));
    }
    return Distribution::MakeEmpirical(std::move(samples));
  }

  Distribution Read(const prism::v1::Mixture& m, const FieldPath& path,
                    int depth) {
    if (depth > kDeepestMixture) {
      checker_.Fail(path, absl::StrCat("nests mixtures deeper than ",
                                       kDeepestMixture, " levels"));
      return {};
    }
    if (!CheckSize(m.components_size(), kMostComponents, path)) return {};
    std::vector<stats::MixtureComponent> components;
    double sum = 0;
    for (int i = 0; i < m.components_size(); ++i) {
      const FieldPath item = path.Item(i);
      const double weight =
          NotNegative(m.components(i).weight(), item.Field("weight"));
      sum += weight;
      components.push_back({weight, Read(m.components(i).distribution(),
                                         item.Field("distribution"), depth)});
    }
    if (!checker_.Require(sum > 0, path,
                          "has weights with sum 0; must be above 0")) {
      return {};
    }
    return Distribution::MakeMixture(std::move(components));
  }

  bool CheckSize(int size, int most, const FieldPath& path) {
    return checker_.Require(
        size >= 1 && size <= most, path,
        absl::StrCat("has ", size, " entries; must have from 1 to ", most));
  }

  Checker& checker_;
};

}  // namespace

Distribution ReadDistribution(const prism::v1::Distribution& message,
                              const FieldPath& path, Checker& checker) {
  return DistributionReader(checker).Read(message, path, 0);
}

Distribution ReadFactor(const prism::v1::Distribution& message,
                        const FieldPath& path, Checker& checker) {
  const int before = checker.failures();
  Distribution factor = ReadDistribution(message, path, checker);
  if (checker.failures() == before && !(factor.StatedMean() > 0)) {
    checker.Fail(path, "has mean 0; must be above 0, because it multiplies");
  }
  return factor;
}

}  // namespace prism::query
