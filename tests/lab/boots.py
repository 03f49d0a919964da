#!/usr/bin/python3
"""How far off exact and proportional are, by thread, over several boots of Xen: the table of docs/steal-lab.md.

    tests/lab/boots.py [N]

Of each thread: by how much the total is off, in % of the thread's CPU time, and the worst window of any boot, in ms."""
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402
import test_lab  # noqa: E402

COLUMNS = ("busy, 1 s", "busy, 100 ms", "pattern, 1 s", "pattern, 100 ms", "short, 10 ms")


def rows(results):
    """{(load and interval, thread): what a boot has shown}"""
    class Boot(test_lab.Xen):
        known = {}

    Boot.results = results
    return {(column, r["name"]): r
            for column, c in zip(COLUMNS, Boot().all_compared(), strict=True) for r in c.rows}


def line(boots, key):
    cells = []
    for method in ("exact", "proportional"):
        off = [100 * (b[key][f"{method}_ns"] - b[key]["saw_ns"]) / b[key]["apparent_ns"] for b in boots]
        window = max(max(b[key][f"{method}_off_ns"]) for b in boots) / 1e6
        cells.append(f"{statistics.median(off):+.2f} % | {max(off, key=abs):+.2f} % | {window:.1f}")
    return f"| {key[0]} | {key[1]} | {statistics.median(b[key]['apparent_ns'] for b in boots) / 1e6:.0f} | " + \
        " | ".join(cells) + " |"


def table(boots):
    print(f"\n{len(boots)} boots\n\n| | | on a CPU, ms | exact: median | worst | window, ms | proportional: median | worst |"
          " window, ms |\n|---|---|---|---|---|---|---|---|---|")
    for key in boots[0]:
        print(line(boots, key))


def main():
    boots = []
    packages = lab.Packages()
    archive = lab.initramfs(packages, test_lab.LabTest.programs, test_lab.XEN)
    for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        results, console = lab.boot_xen(packages, archive, 900)
        print(f"boot {n + 1}: {console[-1].strip()}", flush=True)
        boots.append(rows(results))
    table(boots)


if __name__ == "__main__":
    try:
        main()
    except lab.LabError as e:
        sys.exit(f"lab: {e}")
