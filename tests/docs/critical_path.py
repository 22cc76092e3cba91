"""What of a step may be late: slack and critical path of a recorded step.

From a trace that `prismctl predict --timeline FILE.json` writes. Times are
microseconds, as in the trace.
"""
import collections
import dataclasses

PHASES = {"forward": "forward", "backward": "input", "input": "input",
          "weights": "weights", "closing": "closing"}
NOMINAL, TYPICAL = 1, 2  # steps of a trace
# Rounding of a trace's times, several times over.
TOLERANCE = 2.0
# Of a step: what is not far from critical.
NEAR = 0.01


@dataclasses.dataclass
class Operation:
    stage: int
    phase: str
    begin: float
    end: float
    before: list  # what it waits for, and how long that is on its way
    slack: float = float("inf")
    hops: int = 0  # between stages on a critical path that ends here


@dataclasses.dataclass
class Summary:
    step: float
    idle: float  # share of stages' time until the last operation ends
    slack: float  # mean over operations by length, as a share of the step
    near: float  # share of operations, by length, with less than NEAR of slack
    hops: int  # between stages on the critical path


def operations(trace, step):
    """Those of one step, in an order in which none waits for a later one."""
    stages = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["pid"] == step:
            if event["cat"] in PHASES:
                stages[event["tid"]].append(event)
    known, waiting, found = {}, [], []
    for stage, events in enumerate(stages.values()):
        last = None
        for event in events:
            operation = Operation(stage, PHASES[event["cat"]], event["ts"],
                                  event["ts"] + event["dur"], [])
            if last:
                operation.before.append((last, 0.0))
            last = operation
            found.append(operation)
            add_input(event["args"], operation, known, waiting)
    for operation, key, way in waiting:
        operation.before.append((known[key], way))
    return sorted(found, key=lambda operation: (operation.begin, operation.end))


def add_input(args, operation, known, waiting):
    if operation.phase == "closing":
        return
    u, microbatch = args["virtual_stage"], args["micro_batch"]
    known[operation.phase, u, microbatch] = operation
    if "input_sent_us" in args:
        sender = u - 1 if operation.phase == "forward" else u + 1
        waiting.append((operation, (operation.phase, sender, microbatch),
                        args["input_arrived_us"] - args["input_sent_us"]))


def add_slack(steps):
    """How much later each may end without the step ending later."""
    end = max(operation.end for operation in steps)
    for operation in steps:
        operation.slack = end - operation.end
    for operation in reversed(steps):
        for other, way in operation.before:
            wait = operation.begin - way - other.end
            other.slack = min(other.slack, operation.slack + wait)


def add_hops(steps):
    for operation in steps:
        operation.hops = max(
            (other.hops + (other.stage != operation.stage)
             for other, way in operation.before
             if abs(operation.begin - way - other.end) < TOLERANCE), default=0)


def summary(trace, step=NOMINAL):
    steps = operations(trace, step)
    add_slack(steps)
    add_hops(steps)
    end = max(steps, key=lambda operation: operation.end)
    passes = [o for o in steps if o.phase != "closing"]
    stages = len({o.stage for o in passes})
    busy = sum(o.end - o.begin for o in passes)
    return Summary(
        step=end.end,
        idle=1 - busy / (stages * max(o.end for o in passes)),
        slack=sum((o.end - o.begin) * o.slack for o in passes) / busy / end.end,
        near=sum(o.end - o.begin for o in passes
                 if o.slack < NEAR * end.end) / busy,
        hops=end.hops)
