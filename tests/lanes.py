"""Pieces of work side by side: of one lane no more at once than the lane is wide, in their order; those without a lane
whenever they may begin; those that are ALONE with nothing beside them."""
import threading
import time

ALONE = object()
POLL_S = 0.5


class Spare:
    """Whether the machine could do with one more piece: its CPUs were idle for a part of the last seconds, and there is
    memory. A piece that has just begun has not shown yet what it takes, so the seconds are counted from then on."""
    SPAN_S = 2
    IDLE_SHARE = 0.3  # of all CPUs: one that is idle for most of the time, of two
    FREE_KB = 3 << 20

    def __init__(self, root="/proc", clock=time.monotonic):
        self.root, self.clock = root, clock
        self.begin()

    def begin(self):
        self.since, self.then = self.clock(), self.cpus()

    def cpus(self):
        """(idle, all) so far, in ticks of all CPUs. Waiting for a disk is idle, too."""
        with open(f"{self.root}/stat", encoding="ascii") as f:
            ticks = [int(word) for word in f.readline().split()[1:9]]
        return ticks[3] + ticks[4], sum(ticks)

    def has_memory(self):
        with open(f"{self.root}/meminfo", encoding="ascii") as f:
            sizes = dict(line.split()[:2] for line in f)
        return int(sizes["MemAvailable:"]) >= self.FREE_KB

    def __call__(self):
        if self.clock() - self.since < self.SPAN_S:
            return False
        before = self.then
        self.begin()
        idle, every = (now - then for now, then in zip(self.then, before))
        return every > 0 and idle / every >= self.IDLE_SHARE and self.has_memory()


class Lanes:
    """jobs pieces at once; up to most of them, one more at a time, whenever there is something to spare."""

    def __init__(self, pieces, jobs, most=0, spare=None, widths=None):
        self.waiting = list(pieces)  # (lane or None, function)
        self.jobs, self.most, self.spare = jobs, max(most, jobs), spare
        self.widths = widths or {}  # of lanes that are wider than 1
        self.busy = []  # lanes of what is being run
        self.stopped = False
        self.error = None
        self.changed = threading.Condition()

    def may_run(self, lane):
        if lane is ALONE:
            return not self.busy
        return ALONE not in self.busy and (lane is None or self.busy.count(lane) < self.widths.get(lane, 1))

    def first(self):
        """The index of the first piece that may run; None when there is none."""
        return next((index for index, (lane, _) in enumerate(self.waiting) if self.may_run(lane)), None)

    def take(self):
        """The first piece that may run, as soon as it may; None when there is none left."""
        with self.changed:
            while self.waiting and not self.stopped:
                index = self.first()
                more = index is not None and self.jobs <= len(self.busy) < self.most
                if index is not None and (len(self.busy) < self.jobs or (more and self.spare())):
                    lane, function = self.waiting.pop(index)
                    self.busy.append(lane)
                    if self.spare:
                        self.spare.begin()
                    return lane, function
                self.changed.wait(POLL_S if more else None)
        return None

    def give_back(self, lane):
        with self.changed:
            self.busy.remove(lane)
            self.changed.notify_all()

    def stop(self):
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def work(self):
        while taken := self.take():
            lane, function = taken
            try:
                function()
            except BaseException as e:
                self.error = self.error or e
                self.stop()
            finally:
                self.give_back(lane)


def run(pieces, jobs, most=0, spare=None, widths=None):
    """Runs all of them. An exception of one, or in the caller's thread, ends the others after the piece that they are
    at, and is raised."""
    lanes = Lanes(pieces, jobs, most, spare, widths)
    workers = [threading.Thread(target=lanes.work, daemon=True) for _ in range(lanes.most)]
    for w in workers:
        w.start()
    try:
        for w in workers:
            w.join()
    finally:
        lanes.stop()
    if lanes.error:
        raise lanes.error
