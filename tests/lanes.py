"""Pieces of work side by side: those of one lane one after another, in their order; those without one whenever a worker
is free; those that are ALONE with nothing beside them."""
import threading

ALONE = object()


class Lanes:
    def __init__(self, pieces):
        self.waiting = list(pieces)  # (lane or None, function)
        self.busy = []  # lanes of what is being run
        self.stopped = False
        self.error = None
        self.changed = threading.Condition()

    def may_run(self, lane):
        if lane is ALONE:
            return not self.busy
        return ALONE not in self.busy and (lane is None or lane not in self.busy)

    def take(self):
        """The first piece whose lane is free; None when there is none left."""
        with self.changed:
            while self.waiting and not self.stopped:
                for place, (lane, function) in enumerate(self.waiting):
                    if self.may_run(lane):
                        del self.waiting[place]
                        self.busy.append(lane)
                        return lane, function
                self.changed.wait()
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
