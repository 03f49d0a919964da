"""Messages as protoc prints them by a schema of ours: each field is known to it, or the test fails."""
import os
import re
import shutil
import subprocess

PROTOC = shutil.which("protoc")
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proto")


def decode(schema, message, data):
    """A list of (name, value) for each field of a message; values are numbers, texts as printed, or such lists."""
    done = subprocess.run([PROTOC, f"-I{FOLDER}", f"--decode={message}", f"{schema}.proto"], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr
    whole = []
    levels = [whole]
    for line in done.stdout.decode().splitlines():
        line = line.strip()
        if line == "}":
            levels.pop()
            continue
        name, _, value = line.partition(" ")
        assert re.match("[a-z]", name), f"a field that {schema}.proto does not have: {line}"
        if value == "{":
            inner = []
            levels[-1].append((name, inner))
            levels.append(inner)
        else:
            levels[-1].append((name.rstrip(":"), int(value) if re.fullmatch("-?[0-9]+", value) else value))
    assert len(levels) == 1
    return whole


def several(message, name):
    return [value for n, value in message if n == name]


def one(message, name, default=0):
    values = several(message, name)
    assert len(values) < 2, (name, values)
    return values[0] if values else default
