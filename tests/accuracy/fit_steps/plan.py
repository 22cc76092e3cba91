"""What is fitted on what.

A fit finds `constants` (names of core/calibration; start, which is the value
compiled in, least and most) so that predictions of its `sources` are nearest
to what was measured. Each source counts by its weight, however many rows it
has. Afterwards parts of the rows are left out and predicted from a fit of the
rest.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class System:
    """Runs of one system at several scales.

    Each is predicted from the others, by which `constant` alone is fitted.
    """

    source: str
    name: str  # in the names of its rows
    constant: str


@dataclasses.dataclass(frozen=True)
class Fit:
    sources: dict[str, float]
    constants: dict[str, tuple[float, float, float]]
    tied: dict[str, str] = dataclasses.field(default_factory=dict)
    kept_out: tuple[tuple[str, str], ...] = ()  # source, family: never seen
    left_out: tuple[str, ...] = ()  # sources, by each of their families
    thirds: bool = False  # a third of all rows at a time
    systems: tuple[System, ...] = ()
    variant_of: str = ""  # another fit, whose constants are those in the code


MLPERF = "MLPerf Llama 3.1 405B"

FITS = {
    # Megatron-LM on A100, unfused attention.
    "megatron_lm": Fit(
        sources={
            "arXiv 2104.04473 table 1": 1.5,
            "arXiv 2104.04473 table 2, ZeRO-3": 0.7,
            "arXiv 2205.05198 table 5": 1.5,
            "arXiv 2205.05198 table 4": 1,
            "vTrain multi-node": 3,
            "vTrain single-node": 2,
        },
        constants={
            "megatron_lm.sharded_pieces": (24, 1, 40),
            "megatron_lm.layer_forward_seconds": (0.71e-3, 0.1e-3, 4e-3),
            "megatron_lm.layer_backward_seconds": (1.68e-3, 0.1e-3, 4e-3),
            "megatron_lm.late_host_seconds": (5.4e-6, 1e-7, 50e-6),
            "megatron_lm.overlapped_backward": (0.25, 0.05, 1),
            "megatron_lm.operation_seconds": (0.62e-3, 0, 3e-3),
        },
        left_out=("vTrain multi-node", "vTrain single-node"),
    ),
    # Newer frameworks on A100, H100 and Blackwell. Rows of H200 and B200 in
    # fp8 take the constants of H100 and GB200.
    "frameworks": Fit(
        sources={
            MLPERF: 3,
            "SimuMax B200 step time": 3,
            "llm-foundry": 3,
            "torchtitan": 2,
        },
        constants={
            "operators.ampere.product_bf16": (0.855, 0.5, 1.2),
            "operators.hopper.product_bf16": (0.79, 0.5, 1.2),
            "operators.hopper.product_fp8": (0.732, 0.4, 1.2),
            "operators.blackwell.product_bf16": (0.533, 0.3, 1.2),
            "operators.blackwell.product_fp8": (0.66, 0.3, 1.2),
            "operators.blackwell.product_fp4": (0.645, 0.2, 1.3),
            "operators.blackwell.attention_backward": (0.36, 0.2, 0.8),
            "operators.ampere.triton_attention_forward": (0.575, 0.1, 1),
            "operators.ampere.triton_attention_backward": (0.272, 0.1, 1),
            "operators.hopper.triton_attention_backward": (0.145, 0.05, 1),
            "operators.power_exponent": (0.57, 0.1, 3),
            "torchtitan.overlapped_forward": (0.76, 0.1, 1),
        },
        tied={"torchtitan.overlapped_backward":
              "torchtitan.overlapped_forward"},
        kept_out=((MLPERF, "h200 fp8"), (MLPERF, "b200 fp8")),
        thirds=True,
        systems=(
            System(MLPERF, "eos-dfw", "operators.hopper.product_fp8"),
            System(MLPERF, "carina", "operators.blackwell.product_fp8"),
        ),
    ),
}

# What the runs say of a constant that was chosen (docs/accuracy.md).
FITS["megatron_lm, rows free"] = dataclasses.replace(
    FITS["megatron_lm"],
    constants=FITS["megatron_lm"].constants
    | {"operators.ampere.row_efficiency": (0.45, 0.2, 0.9)},
    left_out=("vTrain multi-node",),
    variant_of="megatron_lm")
