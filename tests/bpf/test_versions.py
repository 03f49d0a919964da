"""What a recording has of a JVM whose version has no table, or only a part of one (user/jvm/layout/versions)."""

import json
import re
import unittest

from harness import FakeTest, spoor

HASH_SHIFT = "--hide=markWord::hash_shift"


def warnings(fake):
    """What doctor says is missing of the JVM: {check: words}."""
    done = json.loads(spoor("doctor", "-F", "json", "-p", fake.pid, expect=None).stdout)
    names = ("version", "stacks", "owners", "hashes", "names", "readers", "virtual-threads")
    return {c["name"]: c["found"] for c in done["checks"] if c["name"] in names and c["state"] == "warning"}


class Versions(FakeTest):
    def said(self, *options, variant=""):
        """Records an enter; doctor's warnings, and the log. Both say the same, and so does standard error."""
        fake = self.start(*options, variant=variant)
        doctor = warnings(fake)
        recorder = self.record(fake, path=self.path(f"{fake.pid}.spoor"))
        fake("object", "hashed", "demo/LockA")
        fake("monitor", "m", "hashed", "0x1234567")
        if variant:
            fake("owner", "m", "31")
        else:
            fake("in", "a", "own", "m")
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        notes = {e["text"] for e in log.of("note")}
        for name, words in doctor.items():
            self.assertIn(f"spoor: warning: {words}\n", recorder.err)
            if name == "stacks":
                self.assertTrue(words.endswith(": " + log.header["sources"]["stacks_missing"]), words)
            else:
                self.assertIn(words, notes)
        return doctor, log

    def enter(self, log):
        enter = log.one("monitor_contended_enter")
        return enter["owner_source"], log.locks()[enter["lock"]["id"]]["hash"]

    def test_17(self):
        doctor, log = self.said()
        self.assertEqual(set(doctor), {"stacks"})  # the fake JVM has no code cache
        self.assertIn("Thread A", str(log.threads()))
        self.assertEqual(self.enter(log), ("java_thread", 0x1234567))

    def test_21_and_23(self):
        for major in (21, 23):
            with self.subTest(major=major):
                doctor, log = self.said(f"--major={major}", "--narrow")
                self.assertEqual(set(doctor), {"stacks"})
                self.assertIn("no table" if major == 23 else "HeapBlock::Header::_used", doctor["stacks"])
                self.assertEqual(self.enter(log), ("java_thread", 0x1234567))

    def test_what_tells_of_waits_unless_it_is_said(self):
        """The scheduler, where it knows as much as the probes do."""
        for variant, probes in (("", "none"), ("jdk24", "usdt"), ("patched", "hooks")):
            with self.subTest(variant=variant):
                fake = self.fake(variant=variant)
                checks = json.loads(spoor("doctor", "-F", "json", "-p", fake.pid).stdout)["checks"]
                found = next(c["found"] for c in checks if c["name"] == "probes")
                self.assertEqual("told by the scheduler unless" in found, probes == "none", found)
                log = self.record(fake, "--probes", "auto", path=self.path(f"{probes}.spoor")).stop()
                self.assertEqual(log.header["record"]["probes"], probes)
                if probes == "none":
                    self.assertEqual((log.header["sources"]["monitor"], fake.flag()), ("switches", 0))
                # What it asks for in addition does not change that.
                more = self.record(fake, "--probes", "auto", "--virtual-parks", path=self.path(f"{probes}-more.spoor"))
                self.assertEqual(more.stop().header["record"]["probes"], probes)

    def test_24(self):
        doctor, log = self.said(variant="jdk24")
        self.assertEqual(set(doctor), {"stacks", "owners", "virtual-threads"})
        self.assertEqual(self.enter(log), ("unresolved", 0x1234567))

    def test_25_counts_readers_in_a_long(self):
        fake = self.start(variant="jdk24")
        fake("juc", "rw", "rrwl")
        recorder = self.record(fake)
        fake("in", "a", "read", "rw")
        fake("state", "rw", 3 << 32 | 1 << 16)
        fake("in", "b", "park", "rw", 0, 0)
        fake("in", "b", "parked")
        park = recorder.stop().one("park_begin")
        self.assertEqual((park["owner_source"], park["readers"]), ("first_reader", 3))

    def test_a_version_that_nobody_knows(self):
        """vmStructs is believed; what it does not say is not recorded."""
        doctor, log = self.said("--major=99", HASH_SHIFT)
        self.assertEqual(set(doctor), {"version", "stacks", "owners", "hashes", "names"})
        self.assertRegex(doctor["version"], "does not know OpenJDK 99 .*17 to 27")
        self.assertEqual(self.enter(log), ("unresolved", 0))
        self.assertNotIn("Thread A", str(log.threads()))
        self.assertIn("not resolved", log.header["facts"]["owner"])

    def test_a_version_that_nobody_knows_says_something_of_itself(self):
        doctor, log = self.said("--major=99", "--narrow")
        self.assertEqual(set(doctor), {"version", "stacks", "owners"})
        self.assertEqual(self.enter(log), ("unresolved", 0x1234567))

    def test_no_version(self):
        doctor, _ = self.said("--hide=Abstract_VM_Version::_vm_major_version")
        self.assertIn("the version of this JVM", doctor["version"])

    def test_a_known_version_that_does_not_say_where_hashes_are(self):
        doctor, log = self.said(HASH_SHIFT)
        self.assertEqual(set(doctor), {"stacks"})
        self.assertEqual(self.enter(log), ("java_thread", 0x1234567))

    def test_a_refusal_has_the_same_words(self):
        fake = self.start("--major=11", "--hide=ThreadsList::_length")
        checks = json.loads(spoor("doctor", "-F", "json", "-p", fake.pid, expect=1).stdout)["checks"]
        jvm = next(c for c in checks if c["name"] == "jvm")
        self.assertEqual(jvm["state"], "missing")
        self.assertRegex(jvm["found"], "it is OpenJDK 11 and lacks ThreadsList::_length")
        err = spoor("record", "-p", fake.pid, "-o", self.path(), expect=1).stderr
        self.assertIn(re.sub(r"\s+", " ", jvm["found"]), re.sub(r"\s+", " ", err))


if __name__ == "__main__":
    unittest.main()
