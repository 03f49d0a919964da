"""The samples of a log of spoor record --sample, by the rules of events.json."""
import math
import statistics


class Samples:
    """The weights of a thread's samples, by the rule of events.json, and their chains from the outermost frame. program: its main
    class, whose methods share() looks for."""

    def __init__(self, log, thread, program="Hot"):
        self.program = program
        methods, stacks, chains = {}, {}, {0: ()}
        cpu = stolen = 0
        self.list, self.end_ns, self.results, self.back_ns = [], 0, {}, 0
        self.stolen_since_ns = 0
        for e in log.raw:
            kind = e["event"]
            if kind == "method":
                methods[e["method"]] = (e["class_name"], e["name"])
            elif kind == "stack":
                stacks[e["stack"]] = e
                frame = methods.get(e["method"], ("", e["frame"]))
                chains[e["stack"]] = (*chains[e["caller"]], frame)
            elif kind == "run_sample" and e["thread"] == thread:
                # The counter goes back when it turns out that a part of it was stolen: as analyze/profile has it.
                self.back_ns = max(self.back_ns, cpu - e["cpu_ns"])
                self.list.append((max(e["cpu_ns"] - cpu, 0), chains[e["stack"]], e))
                self.results[e["result"]] = self.results.get(e["result"], 0) + 1
                if e["cpu_ns"] > cpu:
                    cpu, stolen = e["cpu_ns"], e["stolen_ns"]
            elif kind in ("thread_sample", "thread_end") and e["thread"] == thread:
                self.end_ns = e["cpu_ns"]
                # As much of the furthest sample's counter may have turned out to be stolen.
                self.stolen_since_ns = e["stolen_ns"] - stolen
        self.rest_ns = self.end_ns - cpu
        self.sum_ns = sum(w for w, _, _ in self.list)

    def share(self, *names):
        """Of the samples with such a method of the program's, and its standard deviation."""
        part = sum(w for w, chain, _ in self.list if any(f == (self.program, n) for f in chain for n in names))
        share = part / self.sum_ns
        effective = self.sum_ns ** 2 / sum(w * w for w, _, _ in self.list)
        return share, math.sqrt(max(share * (1 - share), 1e-4) / effective)

    def median_between_ns(self):
        """Of the thread's CPU time."""
        times = [e["cpu_ns"] for _, _, e in self.list]
        return statistics.median(b - a for a, b in zip(times, times[1:]))
