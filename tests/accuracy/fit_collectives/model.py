"""Times of collectives as core/hardware says them, for nodes under one network.

The same formulas as core/hardware/collective_curve.cc, on arrays of rows.
core/hardware/measured_collectives_test.cc holds the two together.
"""

import numpy as np

PROTOCOLS = ("ll", "ll128", "simple")
NODE_LATENCY = 0.5e-6
NETWORK_LATENCY = 2.5e-6
# More cards of a node than this were not measured.
MOST_CARDS = 8
SWITCH_GPUS = 8

# Name -> where the fit starts.
START = {
    "nvlink3.ll.start_seconds": 8e-6,
    "nvlink3.ll.hop_seconds": 0.4e-6,
    "nvlink3.ll.share": 0.03,
    "nvlink3.ll128.start_seconds": 10.5e-6,
    "nvlink3.ll128.hop_seconds": 0.8e-6,
    "nvlink3.ll128.share": 0.45,
    "nvlink3.simple.start_seconds": 13e-6,
    "nvlink3.simple.hop_seconds": 3.5e-6,
    "nvlink3.simple.share": 0.76,
    "nvlink3.simple.ramp_seconds": 12e-6,
    "nvlink3.peer_seconds": 0.5e-6,
    "nvlink4.ll.start_seconds": 4.5e-6,
    "nvlink4.ll.hop_seconds": 0.4e-6,
    "nvlink4.ll.share": 0.03,
    "nvlink4.ll128.start_seconds": 6e-6,
    "nvlink4.ll128.hop_seconds": 0.3e-6,
    "nvlink4.ll128.share": 0.45,
    "nvlink4.simple.start_seconds": 8e-6,
    "nvlink4.simple.hop_seconds": 1e-6,
    "nvlink4.simple.share": 0.85,
    "nvlink4.simple.ramp_seconds": 8e-6,
    "nvlink4.in_switch.start_seconds": 15e-6,
    "nvlink4.in_switch.share": 0.62,
    "nvlink4.in_switch.ramp_seconds": 20e-6,
    "nvlink4.peer_seconds": 0.5e-6,
    "network.ll.hop_seconds": 1e-6,
    "network.ll.most_bytes_per_second": 5e9,
    "network.ll128.hop_seconds": 2e-6,
    "network.ll128.most_bytes_per_second": 20e9,
    "network.simple.hop_seconds": 9e-6,
    "network.simple.share": 0.97,
    "network.simple.ramp_seconds": 2e-6,
    "network.card_seconds": 0.7e-6,
    "network.tree_share": 0.8,
    "network.peer_seconds": 3e-6,
    "network.exchange_share": 0.92,
    "network.transfer.start_seconds": 20e-6,
    "network.transfer.share": 0.5,
    "node_bulk_transfer.start_seconds": 330e-6,
    "node_bulk_transfer.share": 0.87,
    "through_share": 0.88,
    "own_share": 0.36,
}
# Read off the curve alone: 80 GB/s of H100 up to 64 MiB.
ASSUMED = {
    "node_transfer.start_seconds": 8e-6,
    "node_transfer.share": 0.18,
}


def or_one(values):
    """For denominators of rows that do not count."""
    return np.where(values > 0, values, 1)


class Fastest:
    """The least of several times, row by row."""

    def __init__(self, rows):
        self.seconds = np.full(len(rows.bytes), np.inf)
        self.way = np.full(len(rows.bytes), "", dtype=object)

    def add(self, way, applies, latency, transfer, ramp=0):
        time = latency + transfer + np.sqrt(ramp * transfer)
        better = applies & (time < self.seconds)
        self.seconds = np.where(better, time, self.seconds)
        self.way[better] = way


class Model:
    def __init__(self, constants, rows):
        self.constants = {**ASSUMED, **constants}
        self.rows = rows

    def network(self, name):
        return self.constants["network." + name]

    def node(self, name):
        """By row, of the generation of its node links."""
        values = [
            self.constants.get(f"{generation}.{name}", 0)
            for generation in ("nvlink3", "nvlink4")
        ]
        return np.where(self.rows.generation == "nvlink3", *values)

    def node_hop(self, protocol):
        return NODE_LATENCY + self.node(protocol + ".hop_seconds")

    def network_hop(self, protocol):
        hop = NETWORK_LATENCY + self.network(protocol + ".hop_seconds")
        if protocol != "simple":
            return hop
        cards = np.minimum(self.rows.in_node, MOST_CARDS)
        return hop + self.network("card_seconds") * cards * (cards - 1)

    def ramp(self, protocol):
        return np.where(self.rows.crosses,
                        self.constants.get(f"network.{protocol}.ramp_seconds",
                                           0),
                        self.node(protocol + ".ramp_seconds"))

    def exchange_ramp(self, protocol):
        """Messages to the node and out of it wait for each other."""
        inside = np.where(self.rows.in_node > 1,
                          self.node(protocol + ".ramp_seconds"), 0)
        return np.maximum(inside, np.where(self.rows.crosses,
                                           self.ramp(protocol), 0))

    def outside(self, protocol, rate):
        if protocol == "simple":
            return self.network("simple.share") * rate
        most = self.network(protocol + ".most_bytes_per_second")
        return np.minimum(self.network("simple.share") * rate, most)

    def rate(self, protocol):
        rows = self.rows
        inside = self.node(protocol + ".share") * rows.node_rate
        outside = self.outside(protocol, rows.network_rate * rows.in_node)
        through = np.where(rows.in_node > 1,
                           self.constants["through_share"] * inside, np.inf)
        return np.where(rows.crosses, np.minimum(through, or_one(outside)),
                        inside)

    def ring(self, fastest, protocol):
        rows = self.rows
        applies = np.isin(
            rows.operation,
            ("all_reduce", "all_gather", "reduce_scatter")) & (rows.algorithm
                                                               != "tree")
        passes = np.where(rows.operation == "all_reduce", 2, 1)
        hops = ((rows.gpus - rows.nodes) * self.node_hop(protocol) +
                (rows.nodes - 1) * self.network_hop(protocol))
        moved = ((passes * (rows.gpus - 1) + self.constants["own_share"]) /
                 rows.gpus * rows.bytes)
        fastest.add("ring." + protocol, applies,
                    self.node(protocol + ".start_seconds") + passes * hops,
                    moved / self.rate(protocol), self.ramp(protocol))

    def tree_hops(self, protocol):
        return 2 * np.log2(self.rows.nodes) * self.network_hop(protocol)

    def tree(self, fastest, protocol):
        rows = self.rows
        applies = ((rows.operation == "all_reduce") & rows.crosses &
                   (rows.algorithm != "ring"))
        chain = 2 * (rows.in_node - 1) * self.node_hop(protocol)
        fastest.add(
            "tree." + protocol, applies,
            self.node(protocol + ".start_seconds") + chain +
            self.tree_hops(protocol),
            2 * rows.bytes / (self.network("tree_share") *
                              self.rate(protocol)), self.ramp(protocol))

    def in_switch(self, fastest):
        rows = self.rows
        applies = ((rows.operation == "all_reduce") &
                   (rows.generation == "nvlink4") &
                   (rows.in_node >= SWITCH_GPUS) & (rows.algorithm == "best"))
        inside = rows.bytes / or_one(
            self.node("in_switch.share") * rows.node_rate)
        outside = 2 * rows.bytes / or_one(
            self.network("simple.share") * rows.network_rate * rows.in_node)
        transfer = np.where(rows.crosses, np.maximum(inside, outside), inside)
        fastest.add(
            "in_switch", applies,
            self.node("in_switch.start_seconds") + self.tree_hops("simple"),
            transfer, self.node("in_switch.ramp_seconds"))

    def exchange(self, fastest, protocol):
        rows = self.rows
        rate = (self.network("exchange_share") * rows.network_rate
                if protocol == "simple" else self.outside(
                    protocol, rows.network_rate))
        inside = ((rows.gpus - 1 + self.constants["own_share"]) / rows.gpus *
                  rows.bytes / (self.node(protocol + ".share") *
                                rows.node_rate))
        outside = np.where(
            rows.crosses, (rows.gpus - rows.in_node) / rows.gpus * rows.bytes /
            or_one(rate), 0)
        inside = np.where(rows.in_node > 1, inside, 0)
        hop = np.maximum(np.where(rows.in_node > 1, self.node_hop(protocol), 0),
                         np.where(rows.crosses, self.network_hop(protocol), 0))
        latency = (self.node(protocol + ".start_seconds") + hop +
                   (rows.in_node - 1) * self.node("peer_seconds") +
                   (rows.gpus - rows.in_node) * self.network("peer_seconds"))
        fastest.add("exchange." + protocol, rows.operation == "all_to_all",
                    latency, np.maximum(inside, outside),
                    self.exchange_ramp(protocol))

    def transfer(self, fastest):
        """A message to the next GPU uses few channels until it is large."""
        rows = self.rows
        inside = (rows.operation == "transfer") & ~rows.crosses
        for name in ("node_transfer", "node_bulk_transfer"):
            fastest.add(
                name, inside, self.constants[name + ".start_seconds"] +
                NODE_LATENCY, rows.bytes /
                (self.constants[name + ".share"] * rows.node_rate))
        fastest.add(
            "network_transfer", (rows.operation == "transfer") & rows.crosses,
            self.network("transfer.start_seconds") + NETWORK_LATENCY,
            rows.bytes /
            or_one(self.network("transfer.share") * rows.network_rate))

    def fastest(self):
        fastest = Fastest(self.rows)
        for protocol in PROTOCOLS:
            self.ring(fastest, protocol)
            self.tree(fastest, protocol)
            self.exchange(fastest, protocol)
        self.in_switch(fastest)
        self.transfer(fastest)
        return fastest
