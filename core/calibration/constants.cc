#include "core/calibration/constants.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <optional>

namespace prism::calibration {
namespace {

// What a constant can be: from `least` to `most`.
struct Range {
  double least = 0;
  double most = 0;
};

constexpr Range kSeconds = {0, 10};
constexpr Range kShare = {1e-6, 1};
constexpr Range kFactor = {1e-6, 10};
constexpr Range kPieces = {1, 100};
constexpr Range kAtLeastZero = {0, 1e9};
constexpr Range kRate = {1e-6, 1e18};

// Puts the group's name before that of each of its constants.
template <typename Visit>
auto In(std::string_view group, const Visit& visit) {
  const std::string prefix = std::string(group) + ".";
  return [prefix, &visit](std::string_view name, auto& value, Range range) {
    visit(prefix + std::string(name), value, range);
  };
}

// Calls visit(name, value, range) for every constant of a group.
template <typename Speeds, typename Visit>
void VisitArchitecture(Speeds& speeds, const Visit& visit) {
  for (size_t i = 0; i < speeds.product.size(); ++i) {
    const auto format = static_cast<hardware::NumberFormat>(i);
    visit("product_" + std::string(hardware::NumberFormatName(format)),
          speeds.product[i], kFactor);
  }
  visit("memory_efficiency", speeds.memory_efficiency, kShare);
  visit("row_efficiency", speeds.row_efficiency, kShare);
  visit("attention_forward", speeds.vendor_attention.forward, kShare);
  visit("attention_backward", speeds.vendor_attention.backward, kShare);
  visit("flash_attention2_forward", speeds.flash_attention2.forward, kShare);
  visit("flash_attention2_backward", speeds.flash_attention2.backward, kShare);
  visit("triton_attention_forward", speeds.triton_attention.forward, kShare);
  visit("triton_attention_backward", speeds.triton_attention.backward, kShare);
}

template <typename Speeds, typename Visit>
void VisitOperators(Speeds& speeds, const Visit& visit) {
  visit("launch_seconds", speeds.launch_seconds, kSeconds);
  visit("attention_forward_ramp", speeds.attention_forward_ramp, kAtLeastZero);
  visit("attention_backward_ramp", speeds.attention_backward_ramp,
        kAtLeastZero);
  visit("attention_causal_ramp", speeds.attention_causal_ramp, kAtLeastZero);
  visit("attention_forward_head_power", speeds.attention_forward_head_power,
        kAtLeastZero);
  visit("attention_backward_head_power", speeds.attention_backward_head_power,
        kAtLeastZero);
  visit("power_exponent", speeds.power_exponent, kAtLeastZero);
  for (size_t i = 0; i < speeds.architectures.size(); ++i) {
    const auto name =
        hardware::ArchitectureName(static_cast<hardware::Architecture>(i));
    VisitArchitecture(speeds.architectures[i], In(name, visit));
  }
}

template <typename Speeds, typename Visit>
void VisitProtocol(Speeds& speeds, const Visit& visit) {
  visit("start_seconds", speeds.start_seconds, kSeconds);
  visit("hop_seconds", speeds.hop_seconds, kSeconds);
  visit("share", speeds.share, kShare);
  visit("ramp_seconds", speeds.ramp_seconds, kSeconds);
}

template <typename Speeds, typename Visit>
void VisitFlagged(Speeds& speeds, const Visit& visit) {
  visit("hop_seconds", speeds.hop_seconds, kSeconds);
  visit("most_bytes_per_second", speeds.most_bytes_per_second, kRate);
}

template <typename Speeds, typename Visit>
void VisitNode(Speeds& speeds, const Visit& visit) {
  VisitProtocol(speeds.ll, In("ll", visit));
  VisitProtocol(speeds.ll128, In("ll128", visit));
  VisitProtocol(speeds.simple, In("simple", visit));
  VisitProtocol(speeds.in_switch, In("in_switch", visit));
  visit("peer_seconds", speeds.peer_seconds, kSeconds);
}

template <typename Speeds, typename Visit>
void VisitNetwork(Speeds& speeds, const Visit& visit) {
  VisitFlagged(speeds.ll, In("ll", visit));
  VisitFlagged(speeds.ll128, In("ll128", visit));
  VisitProtocol(speeds.simple, In("simple", visit));
  VisitProtocol(speeds.transfer, In("transfer", visit));
  visit("card_seconds", speeds.card_seconds, kSeconds);
  visit("tree_share", speeds.tree_share, kShare);
  visit("peer_seconds", speeds.peer_seconds, kSeconds);
  visit("exchange_share", speeds.exchange_share, kShare);
}

template <typename Speeds, typename Visit>
void VisitLinks(Speeds& speeds, const Visit& visit) {
  VisitNode(speeds.nvlink3, In("nvlink3", visit));
  VisitNode(speeds.nvlink4, In("nvlink4", visit));
  VisitNetwork(speeds.network, In("network", visit));
  VisitProtocol(speeds.node_transfer, In("node_transfer", visit));
  VisitProtocol(speeds.node_bulk_transfer, In("node_bulk_transfer", visit));
  visit("through_share", speeds.through_share, kShare);
  visit("own_share", speeds.own_share, kAtLeastZero);
}

template <typename Costs, typename Visit>
void VisitOverlap(Costs& costs, const Visit& visit) {
  visit("contention", costs.contention, kAtLeastZero);
  visit("link_share", costs.link_share, kShare);
}

template <typename Speeds, typename Visit>
void VisitHost(Speeds& speeds, const Visit& visit) {
  visit("link_bytes_per_second", speeds.link_bytes_per_second, kRate);
  visit("memory_bytes_per_second", speeds.memory_bytes_per_second, kRate);
  visit("sharpness", speeds.sharpness, kPieces);
}

template <typename Costs, typename Visit>
void VisitFramework(Costs& costs, const Visit& visit) {
  visit("step_seconds", costs.step_seconds, kSeconds);
  visit("operation_seconds", costs.operation_seconds, kSeconds);
  visit("layer_forward_seconds", costs.layer_forward_seconds, kSeconds);
  visit("layer_backward_seconds", costs.layer_backward_seconds, kSeconds);
  visit("late_host_seconds", costs.late_host_seconds, kSeconds);
  visit("backward_collectives", costs.backward_collectives, kShare);
  visit("overlapped_forward", costs.overlapped_forward, kShare);
  visit("overlapped_backward", costs.overlapped_backward, kShare);
  visit("sharded_pieces", costs.sharded_pieces, kPieces);
}

template <typename ConstantsType, typename Visit>
void VisitAll(ConstantsType& constants, const Visit& visit) {
  VisitOperators(constants.operators, In("operators", visit));
  VisitLinks(constants.links, In("links", visit));
  VisitOverlap(constants.overlap, In("overlap", visit));
  VisitHost(constants.host, In("host", visit));
  VisitFramework(constants.megatron_lm, In("megatron_lm", visit));
  VisitFramework(constants.megatron_core, In("megatron_core", visit));
  VisitFramework(constants.fsdp, In("fsdp", visit));
  VisitFramework(constants.torchtitan, In("torchtitan", visit));
}

absl::Status NotFound(std::string_view name) {
  return absl::NotFoundError(
      absl::StrFormat("no constant is called \"%s\"", name));
}

}  // namespace

absl::Status SetConstant(Constants& constants, std::string_view name,
                         double value) {
  absl::Status status = NotFound(name);
  VisitAll(constants, [&](std::string_view other, double& slot, Range range) {
    if (other != name) return;
    if (value >= range.least && value <= range.most) {
      slot = value;
      status = absl::OkStatus();
    } else {
      status = absl::InvalidArgumentError(
          absl::StrFormat("%s is %g; must be from %g to %g", name, value,
                          range.least, range.most));
    }
  });
  return status;
}

absl::StatusOr<double> GetConstant(const Constants& constants,
                                   std::string_view name) {
  std::optional<double> found;
  VisitAll(constants, [&](std::string_view other, const double& value, Range) {
    if (other == name) found = value;
  });
  if (!found) return NotFound(name);
  return *found;
}

std::vector<std::string> ConstantNames() {
  std::vector<std::string> names;
  const Constants constants;
  VisitAll(constants, [&](std::string_view name, const double&, Range) {
    names.emplace_back(name);
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace prism::calibration
