"""What spoor exports, opened by speedscope's own release from a file: the rows that it shows are those of our figures."""
import base64
import collections
import json
import os
import shutil
import subprocess
import unittest

from pages import MODULES, ROOT, SPOOR, PageTest, make_log, shop, spoor

INDEX = os.path.join(MODULES, "speedscope/dist/release/index.html")
# Its table of frames: the names, and how long the bars of total and self are, in percent. Of profiles without a unit it shows
# the figures themselves.
ROWS = """() => [...document.querySelectorAll("tr")].map(row => {
  const bars = [...row.querySelectorAll("td [style*='width:']")].map(bar => parseFloat(bar.style.width));
  return [row.lastElementChild.textContent, ...bars];
}).filter(row => row.length === 3)"""
FIGURES = """() => [...document.querySelectorAll("tr")].filter(row => row.querySelector("td [style*='width:']")).map(row =>
  [row.lastElementChild.textContent,
   ...[...row.children].slice(0, 2).map(cell => Number(cell.textContent.split(" ")[0].replace(/,/g, "")))])"""
PROFILES = """() => [...document.querySelectorAll("tbody tr[title]")].map(r => [r.title, r.lastElementChild.textContent])"""


def folded(text):
    """{frame, with _ for each space: [total, self]} of lines of flamegraph.pl's; a frame that calls itself counts once."""
    found = collections.defaultdict(lambda: [0, 0])
    for line in text.splitlines():
        chain, _, ns = line.rpartition(" ")
        frames = chain.replace(" ", "_").split(";")
        for frame in set(frames):
            found[frame][0] += int(ns)
        found[frames[-1]][1] += int(ns)
    return {frame: sums for frame, sums in found.items() if sums[0]}


class Speedscope(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(INDEX):
            super().tearDownClass()
            raise unittest.SkipTest("no speedscope: make web-setup")

    def output(self, *args):
        done = subprocess.run([SPOOR, *args], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def show(self, data, name):
        """Opens it as speedscope's own command does, which writes such a script."""
        script = os.path.join(self.folder, "profile.js")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(base64.b64encode(data).decode())});")
        self.browser("open", file=INDEX, hash=f"#localProfilePath={script[1:]}&view=sandwich", width=1400, height=3000,
                     ready="td [style*='width:']")
        for line in self.browser("logs"):
            self.assertRegex(line, r"^(request: file://|console: )")
        rows = self.js(ROWS)
        self.assertTrue(rows)
        return {name.replace(" ", "_"): bars for name, *bars in rows}

    def check(self, rows, wanted):
        """The length of a bar has six digits."""
        self.assertEqual(set(rows), set(wanted))
        whole = sum(own for _, own in wanted.values())
        for name, bars in rows.items():
            for bar, ns in zip(bars, wanted[name]):
                self.assertAlmostEqual(bar, 100 * ns / whole, delta=1e-5 * max(bar, 1), msg=name)

    def test_contentions(self):
        for seed in (3, 4):
            log = make_log(self.folder, shop(seed), "shop")
            whole = json.loads(spoor("report", "--by", "group", "--format", "json", log).stdout)["total"]["blocked_ns"]
            for side in ("waiter", "owner", "both"):
                wanted = folded(self.output("export", "--to", "collapsed", "-s", side, log).decode())
                self.assertEqual(sum(own for _, own in wanted.values()), whole)
                for to, name in (("speedscope", "a.speedscope.json"), ("pprof", "a.pb.gz"), ("collapsed", "a.txt")):
                    with self.subTest(seed=seed, side=side, to=to):
                        self.check(self.show(self.output("export", "--to", to, "-s", side, log), name), wanted)
            self.assertEqual({name.replace(" ", "_"): sums for name, *sums in self.js(FIGURES)}, wanted, "to the ns")

    def test_both_profiles_of_a_file(self):
        log = make_log(self.folder, shop(5), "shop")
        self.show(self.output("export", "--to", "speedscope", log), "a.speedscope.json")
        whole = json.loads(spoor("report", "--by", "group", "--format", "json", log).stdout)["total"]["blocked_ns"]
        self.assertEqual(self.js(PROFILES), [[title, f"{whole / 1e9:.2f}s"] for title in (
            "waiters: where threads were blocked", "owners: where the holders of the locks were meanwhile")])

    def test_running_threads(self):
        log = os.path.join(self.folder, "running.spoor")
        source = os.path.join(ROOT, "tests/golden/profile-programs/log.jsonl")
        subprocess.run(["/usr/bin/python3", "-B", f"{ROOT}/tests/golden/mklog.py", source, log], check=True)
        wanted = folded(self.output("profile", "--format", "collapsed", log).decode())
        for form, name in (("speedscope", "a.speedscope.json"), ("pprof", "a.pb.gz"), ("collapsed", "a.txt")):
            with self.subTest(form):
                self.check(self.show(self.output("profile", "--format", form, log), name), wanted)


if __name__ == "__main__":
    unittest.main()
