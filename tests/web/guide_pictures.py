#!/usr/bin/python3
"""tests/web/guide_pictures.py [FOLDER]: takes the pictures of docs/guide.md, of the logs in docs/logs, into docs/pictures.

`make guide-pictures` runs it, after a change of the page. It fails if the page does not have what the guide says it shows, if a
picture is too large, or if the guide shows another set of pictures.
"""
import os
import re
import sys
import tempfile
import urllib.parse

sys.dont_write_bytecode = True
from pages import Browser, ROOT, spoor  # noqa: E402
from small_png import small  # noqa: E402

LIMIT_BYTES = 150_000
WIDTH, HEIGHT = 1180, 900
FIGURE_4_9 = "group,lock_class,lock,waiter_stack,owner_stack"

# The tree's row whose names, from the root down, begin with these: opened, and the last one selected, as a reader does by clicks.
# Gives the texts of the row and of the details.
OPEN = """async names => {
  const rows = () => [...document.querySelectorAll("#rows tr[data-path]")];
  const text = row => row.querySelector(".text").textContent;
  let from = 0, level = 1, row = rows()[0];
  for (const name of names) {
    if (row.getAttribute("aria-expanded") === "false")
      row.querySelector(".twist").click();
    await new Promise(done => requestAnimationFrame(done));
    from = rows().findIndex(r => r.dataset.path === row.dataset.path);
    level++;
    row = rows().slice(from + 1).find(r => +r.getAttribute("aria-level") === level && text(r).includes(name));
    if (!row)
      throw new Error(`no row ${name} among ${rows().map(text).join(" | ")}`);
  }
  row.click();
  await new Promise(done => requestAnimationFrame(done));
  return [text(row), document.getElementById("details").textContent];
}"""


class Guide:
    def __init__(self, folder):
        self.to, self.browser, self.pages = folder, Browser(), tempfile.mkdtemp()
        self.taken = set()

    def close(self):
        self.browser.close()

    def page(self, log, by="", where=""):
        """Opens the page of a log with these aspects and condition."""
        file = os.path.join(self.pages, f"{log}.html")
        if not os.path.exists(file):
            done = spoor("html", "-o", file, os.path.join(ROOT, "docs/logs", f"{log}.spoor"))
            assert done.returncode == 0, done.stderr
        parts = {name: value for name, value in (("by", by), ("where", where)) if value}
        self.browser("open", file=file, hash="#" + urllib.parse.urlencode(parts), width=WIDTH, height=HEIGHT)

    def row(self, *names):
        return self.browser("eval", script=OPEN, arg=names)

    def take(self, name, at, *expected):
        """A picture of one part of the page, in which these texts have to be."""
        text = self.browser("eval", script="at => document.querySelector(at).innerText", arg=at)
        for part in expected:
            assert part in text, f"{name}: no {part!r} in {text!r}"
        path = os.path.join(self.to, f"{name}.png")
        self.browser("shot", path=path, at=at)
        with open(path, "rb") as f:
            picture = small(f.read())
        with open(path, "wb") as f:
            size = f.write(picture)
        assert size < LIMIT_BYTES, f"{name}.png has {size} bytes"
        self.taken.add(f"{name}.png")
        print(f"{size:8,} {name}.png")


def table(guide):
    guide.page("table-monitor", "waiter_method,owner_method")
    guide.take("table-findings", "#overview-section", "ProductTable.lookUpByNumber", "ProductTable.lookUpByName")
    guide.row("ProductTable.lookUpByNumber", "ProductTable.lookUpByName")
    guide.take("table-tree", "#tree-section", "lookUpByNumber", "lookUpByName")

    guide.page("table-reentrant", FIGURE_4_9)
    lock = ("juc", "ReentrantLock$NonfairSync", "ReentrantLock$NonfairSync #1")
    guide.row(*lock)
    guide.take("figure-4-9-lock", ".split > .wide", "juc", "ReentrantLock$NonfairSync #1")
    _, details = guide.row(*lock, "lookUpByNumber", "regionMatches")
    assert "AbstractQueuedSynchronizer" in details and "lookUpByName" in details, details
    guide.take("figure-4-9-chains", "#tree-section", "lookUpByNumber", "[+", "AbstractQueuedSynchronizer")


def broker(guide):
    guide.page("broker")
    guide.take("broker-findings", "#overview-section", "PooledTaskRunner", "checkpointProducerAudit")
    guide.take("broker-time", "#course-section")
    guide.page("broker", "waiter_method,owner_method,owner_state")
    guide.row("PooledTaskRunner.runTask", "PooledTaskRunner.wakeup", "runnable")
    guide.take("broker-wakeup", "#tree-section", "runnable")
    guide.page("broker", "waiter_stack,owner_stack", "lock_class=*ReentrantReadWriteLock* and waiter_method=*.store")
    guide.row("MessageDatabase.store", "")
    guide.take("broker-checkpoint", "#tree-section", "checkpointProducerAudit")


def main(folder):
    guide = Guide(folder)
    try:
        table(guide)
        broker(guide)
    finally:
        guide.close()
    with open(os.path.join(ROOT, "docs/guide.md"), encoding="utf-8") as f:
        shown = set(re.findall(r"\]\(pictures/([\w-]+\.png)\)", f.read()))
    assert shown == guide.taken, f"docs/guide.md shows {sorted(shown)}, taken are {sorted(guide.taken)}"


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "docs/pictures"))
