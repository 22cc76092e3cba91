"""What is fitted on what.

A fit finds `constants` (names of core/calibration; start, least and most) so
that predictions of its `sources` are nearest to what was measured. Each source
counts by its weight, however many rows it has. Afterwards each family of
`left_out` is left out in turn and predicted from a fit of the rest.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Fit:
    sources: dict[str, float]
    constants: dict[str, tuple[float, float, float]]
    left_out: tuple[str, ...] = ()  # sources, by each of their families


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
}
