"""What logs rely on stays as it is: schemas/gen.py refuses each kind of change to what events.lock.json has."""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schemas")


def events_json():
    with open(os.path.join(SCHEMAS, "events.json"), encoding="utf-8") as f:
        return json.load(f)


def event(schema, name):
    return next(e for e in schema["events"] if e["name"] == name)


def fields(schema, name):
    return event(schema, name)["fields"]


class Lock(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.events = os.path.join(self.folder, "events.json")
        self.lock = os.path.join(self.folder, "events.lock.json")
        shutil.copy(os.path.join(SCHEMAS, "events.lock.json"), self.lock)

    def gen(self, *args, path=None):
        return subprocess.run([sys.executable, os.path.join(SCHEMAS, "gen.py"), path or self.events, *args],
                              capture_output=True, text=True, check=False)

    def changed(self, edit):
        schema = events_json()
        edit(schema)
        with open(self.events, "w", encoding="utf-8") as f:
            json.dump(schema, f)

    def test_lock_is_complete(self):
        """Whoever adds something locks it in the same commit."""
        done = self.gen("--check-lock", path=os.path.join(SCHEMAS, "events.in.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_changes_are_refused(self):
        def swap(items, a, b):
            items[a], items[b] = items[b], items[a]

        def reuse(schema):
            old = event(schema, "theft")
            schema["events"].append({"id": old["id"], "name": "something_else", "doc": "", "fields": []})
            schema["events"].remove(old)

        cases = {
            "an id is used again": (reuse, "event 51 is theft in logs, and now something_else"),
            "an event goes": (lambda s: s["events"].remove(event(s, "theft")), "event 51, theft, is in logs"),
            "an event gets another id": (lambda s: event(s, "theft").update(id=999), "event 51, theft, is in logs"),
            "an event is renamed": (lambda s: event(s, "theft").update(name="stolen"), "event 51 is theft in logs"),
            "a field goes": (lambda s: fields(s, "theft").pop(), "field 2 of theft is 'turn_ns"),
            "a field is renamed": (lambda s: fields(s, "theft")[0].update(name="vcpu"), "field 0 of theft"),
            "a field is put in front": (lambda s: fields(s, "theft").insert(0, {"name": "x", "type": "uint"}),
                                        "field 0 of theft is 'cpu: uint' in logs, and now 'x: uint'"),
            "fields change places": (lambda s: swap(fields(s, "theft"), 1, 2), "field 1 of theft"),
            "a type changes": (lambda s: fields(s, "string")[1].update(type="string"), "now 'text: string'"),
            "a unit changes": (lambda s: fields(s, "theft")[1].update(unit="us"), "now 'taken_ns: uint, us'"),
            "a unit goes": (lambda s: fields(s, "gc_pool")[3].pop("unit"), "now 'used_bytes: uint'"),
            "a counter is another's": (lambda s: next(f for f in fields(s, "park_end") if f.get("of") == "owner")
                                       .update(of="thread"), "cpu_ns of owner, ns' in logs"),
            "a counter is another one": (lambda s: fields(s, "thread_end")[0].update(counter="blocked_ns"),
                                         "counter blocked_ns of thread"),
            "an enum is another one": (lambda s: fields(s, "end")[0].update(enum="park_end"), "enum park_end'"),
            "enum values change places": (lambda s: swap(s["enums"]["park_end"], 1, 2), "value 1 of enum park_end"),
            "an enum value is put in front": (lambda s: s["enums"]["note_level"].insert(0, "debug"),
                                              "value 0 of enum note_level is info in logs, and now debug"),
            "an enum value goes": (lambda s: s["enums"]["end_reason"].pop(), "enum end_reason is dumped in logs"),
        }
        for name, (edit, message) in cases.items():
            with self.subTest(name):
                self.changed(edit)
                for option in ("--lock", "--check-lock", "--c"):
                    done = self.gen(option, *([self.folder] if option == "--c" else []))
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(message, done.stderr)
                    self.assertFalse(os.path.exists(os.path.join(self.folder, "schema_gen.h")))

    def test_refusal_changes_nothing(self):
        with open(self.lock, encoding="utf-8") as f:
            before = f.read()
        self.changed(lambda s: fields(s, "theft").pop())
        self.assertEqual(self.gen("--lock").returncode, 1)
        with open(self.lock, encoding="utf-8") as f:
            self.assertEqual(f.read(), before)

    def test_additions_are_taken_in(self):
        def add(schema):
            fields(schema, "theft").append({"name": "by", "type": "enum", "enum": "thief"})
            schema["events"].append({"id": 60001, "name": "later", "doc": "", "fields": []})
            schema["enums"]["thief"] = ["unknown"]
            schema["enums"]["park_end"].append("later")

        self.changed(add)
        done = self.gen("--check-lock")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--lock", done.stderr)
        self.assertEqual(self.gen("--lock").returncode, 0)
        self.assertEqual(self.gen("--check-lock").returncode, 0)
        self.changed(lambda s: None)  # back, as if nothing had been: now that is a change
        done = self.gen("--check-lock")
        self.assertEqual(done.returncode, 1)
        for what in ("field 3 of theft", "event 60001", "enum thief", "value 5 of enum park_end"):
            self.assertIn(what, done.stderr)

    def grouped(self, edit):
        """Writes events.in.json with a change, its events.json and description, and gives what --docs has said."""
        with open(os.path.join(SCHEMAS, "events.in.json"), encoding="utf-8") as f:
            schema = json.load(f)
        edit(schema)
        source = os.path.join(self.folder, "events.in.json")
        with open(source, "w", encoding="utf-8") as f:
            json.dump(schema, f)
        shutil.copy(os.path.join(SCHEMAS, "event-log.md"), self.folder)
        return self.gen("--docs", path=source)

    def test_a_counter_of_a_group_is_appended_to_all_that_have_the_group(self):
        done = self.grouped(lambda s: s["counter_groups"]["counters"].insert(
            0, {"name": "frozen_ns", "unit": "ns", "doc": "of runnable_ns: its cgroup was frozen"}))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.events, encoding="utf-8") as f:
            now = json.load(f)
        for old in events_json()["events"]:
            names = [f["name"] for f in fields(now, old["name"])]
            whose = {f["of"] for f in old["fields"] if f["type"] == "counter"}
            more = [name for of, name in (("thread", "frozen_ns"), ("owner", "owner_frozen_ns")) if of in whose]
            with self.subTest(old["name"]):
                self.assertEqual(names[:len(old["fields"])], [f["name"] for f in old["fields"]])
                self.assertEqual(sorted(names[len(old["fields"]):]), sorted(more))
        self.assertEqual(fields(now, "thread_end")[-1], {"name": "frozen_ns", "unit": "ns", "type": "counter",
                                                         "doc": "of runnable_ns: its cgroup was frozen",
                                                         "of": "thread"})

    def test_groups_that_are_wrong(self):
        def state(**keys):
            return lambda s: s["counter_groups"]["states"].append(keys)

        for what, edit, message in (
                ("a counter goes", lambda s: s["counter_groups"]["counters"].pop(), "is in logs"),
                ("a unit changes", lambda s: s["counter_groups"]["counters"][0].update(unit="us"),
                 "counter cpu_ns of thread, us"),
                ("no such group", lambda s: event(s, "unpark").update(counters={"thread": "x"}), "no group of"),
                ("of what is no thread", lambda s: event(s, "stack_walk").update(counters={"stack": "counters"}),
                 "no earlier thread field"),
                ("twice", state(name="cpu_ns", unit="ns"), "there are two cpu_ns"),
                ("a key that nobody knows", state(name="x_ns", unit="ns", type="uint"), "group states")):
            with self.subTest(what):
                done = self.grouped(edit)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)
                self.assertFalse(os.path.exists(self.events))

    def test_words_may_change(self):
        def reword(schema):
            schema["comment"] = "x"
            for e in copy.copy(schema["events"]):
                e["doc"] = "x"
                for f in e["fields"]:
                    f["doc"] = "x"

        self.changed(reword)
        self.assertEqual(self.gen("--check-lock").returncode, 0)


if __name__ == "__main__":
    unittest.main()
