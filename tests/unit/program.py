"""The program that unit tests run, whatever folder they are started in."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("SPOOR_BUILD") or os.path.join(ROOT, "build"))
SPOOR = os.path.abspath(os.environ.get("SPOOR") or os.path.join(BUILD, "spoor"))

sys.path.append(os.path.join(ROOT, "tests"))
