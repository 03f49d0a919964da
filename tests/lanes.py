"""Pieces of work side by side: those of one lane one after another, in their order; those without one whenever a worker
is free."""
import threading


class Lanes:
    def __init__(self, pieces):
        self.waiting = list(pieces)  # (lane or None, function)
        self.busy = set()
        self.stopped = False
        self.error = None
        self.changed = threading.Condition()

    def take(self):
        """The first piece whose lane is free; None when there is none left."""
        with self.changed:
            while self.waiting and not self.stopped:
                for place, (lane, function) in enumerate(self.waiting):
                    if lane not in self.busy:
                        del self.waiting[place]
                        self.busy |= {lane} - {None}
                        return lane, function
                self.changed.wait()
        return None

    def give_back(self, lane):
        with self.changed:
            self.busy.discard(lane)
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


def run(pieces, jobs):
    """Runs all of them with so many workers. An exception of one, or in the caller's thread, ends the others after the
    piece that they are at, and is raised."""
    lanes = Lanes(pieces)
    workers = [threading.Thread(target=lanes.work, daemon=True) for _ in range(jobs)]
    for w in workers:
        w.start()
    try:
        for w in workers:
            w.join()
    finally:
        lanes.stop()
    if lanes.error:
        raise lanes.error
