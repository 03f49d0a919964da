"""The manual pages have the options that --help has, no others, and each in the SYNOPSIS."""
import os
import re
import subprocess
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
MAN = os.path.join(HERE, "..", "..", "docs", "man")
COMMANDS = sorted(re.fullmatch(r"spoor-(\w+)\.1", name)[1] for name in os.listdir(MAN) if name.startswith("spoor-"))
EVERYWHERE = {"--help", "--usage", "--version"}


def plain(page):
    """Without the marks of man(7) and mdoc(7), as far as options need it: -x, --long=VALUE."""
    page = re.sub(r"\\f[A-Z]", "", page.replace("\\-", "-"))
    page = re.sub(r"\bFl Fl ", "--", page)
    return re.sub(r"\bFl (\w+)", r"-\1", page)


def section(page, title):
    return re.search(rf"^\.S[Hh] {title}\n(.*?)(?=^\.S[Hh] )", page, re.M | re.S)[1]


def options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


class Man(unittest.TestCase):
    def help(self, command):
        """{long option: short one, or None}"""
        helps = [[command]] if command != "heap" else [[command], [command, "grow"], [command, "page"]]
        told = "".join(subprocess.run([SPOOR, *words, "--help"], capture_output=True, text=True, check=True).stdout
                       for words in helps)
        rows = re.findall(r"^ {2,6}(?:(-\S), )?(--[a-z][a-z-]+)", told, re.M)
        return {name: short or None for short, name in rows if name not in EVERYWHERE}

    def test_options(self):
        self.assertGreater(len(COMMANDS), 8)
        for command in COMMANDS:
            with open(os.path.join(MAN, f"spoor-{command}.1"), encoding="utf-8") as f:
                page = plain(f.read())
            synopsis = section(page, "SYNOPSIS")
            letters = "".join(re.findall(r"(?<![\w-])-(\w+)", synopsis))
            known = self.help(command)
            self.assertTrue(known, command)
            for name, short in known.items():
                with self.subTest(command=command, option=name):
                    self.assertIn(name, options(page.replace(synopsis, "")), "it is not explained")
                    self.assertTrue(name in options(synopsis) or (short and short[1] in letters),
                                    "it is not in the SYNOPSIS")
            with self.subTest(command=command):
                # Those that a line of options explains, not those that the text speaks of.
                explained = section(page + "\n.Sh END\n", "(?:OPTIONS|DESCRIPTION)")
                lines = re.findall(r"^(?:\.It |\.B |)-.*$", explained, re.M)
                self.assertEqual(options("\n".join(lines)) - set(known) - EVERYWHERE, set())


if __name__ == "__main__":
    unittest.main()
