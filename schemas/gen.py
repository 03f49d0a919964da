#!/usr/bin/python3
"""Turns schemas/events.in.json into C tables, events.json and the tables of event-log.md, and keeps its promises.

    gen.py events.in.json --c DIR         writes DIR/schema_gen.h and DIR/schema_gen.c
    gen.py events.in.json --docs          rewrites events.json and the tables in event-log.md, which are beside it
    gen.py events.in.json --check-docs    fails if they are stale
    gen.py events.in.json --lock          appends what is new to events.lock.json beside it
    gen.py events.in.json --check-lock    fails if something new is not in it

events.json is for programs that read logs: each event has all of its fields, in the order of the log. In events.in.json
an event names groups of counters ("counters": {"thread": "states", "owner": "counters"}), whose fields are made here.

All of them fail if something changes that is in events.lock.json: logs have it. Counters of groups have the
indexes that they have there; counters that are new in a group come last.
"""
import argparse
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # a build leaves nothing beside its sources
import lock  # noqa: E402

FIELDS_MAX = 32  # of a struct event, 8 bytes each; a bit each in the log
ID_MAX = 0xFFFF
TYPES = {"uint", "bool", "str", "enum", "thread", "class", "lock", "string", "method", "stack", "counter"}
EVENT_KEYS = {"id", "name", "doc", "fields", "counters", "state"}
STATE_ROLES = ["opens", "closes", "keeps"]
STATE_OF_MAX = 2
FIELD_KEYS = {"name", "type", "doc", "unit", "enum", "of", "counter"}
RESERVED = {"event", "thread", "time_ns"}  # what every event has: the same keys in `spoor cat`
MARK_BEGIN = "<!-- made by schemas/gen.py --docs from schemas/events.in.json: begin -->"
MARK_END = "<!-- made by schemas/gen.py --docs from schemas/events.in.json: end -->"


class SchemaError(Exception):
    pass


def check(ok, text):
    if not ok:
        raise SchemaError(text)


def is_name(text):
    return isinstance(text, str) and re.fullmatch(r"[a-z][a-z0-9_]*", text) is not None


def check_field(where, field, seen, enums):
    name = field.get("name")
    check(is_name(name), f"{where}: a field's name must be lower case: {name!r}")
    where = f"{where}.{name}"
    check(name not in seen, f"{where}: there are two fields of this name")
    check(name not in RESERVED, f"{where}: every event has a {name!r} of its own")
    check(set(field) <= FIELD_KEYS, f"{where}: unknown keys {sorted(set(field) - FIELD_KEYS)}")
    kind = field.get("type")
    check(kind in TYPES, f"{where}: unknown type {kind!r}")
    check((kind == "enum") == ("enum" in field), f"{where}: type enum and key enum go together")
    check(kind != "enum" or field["enum"] in enums, f"{where}: no enum {field.get('enum')!r}")
    check((kind == "counter") == ("of" in field), f"{where}: type counter and key of go together")
    check("counter" not in field or kind == "counter", f"{where}: counter without type counter")
    if kind == "counter" and field["of"] != "thread":
        check(seen.get(field["of"]) == "thread",
              f"{where}: of names {field['of']!r}, which is no earlier thread field")
    seen[name] = kind


def state_of(event):
    """(role, what, of, nests), or None."""
    state = event.get("state")
    if state is None:
        return None
    roles = [r for r in STATE_ROLES if r in state]
    return (roles[0], state[roles[0]], state["of"], state.get("nests", False))


def check_states(schema):
    """What opens can be closed: by what has the same name, and fields of the same names that tell which."""
    roles = {}
    for event in schema["events"]:
        state, where = event.get("state"), f"{event['name']}: state"
        if state is None:
            continue
        check(set(state) <= set(STATE_ROLES) | {"of", "nests"}, f"{where}: unknown keys")
        check(len(set(state) & set(STATE_ROLES)) == 1, f"{where}: one of {STATE_ROLES}")
        role, what, of, nests = state_of(event)
        fields = {f["name"] for f in event["fields"]}
        check(is_name(what) and 0 < len(of) <= STATE_OF_MAX, f"{where}: what, or of what?")
        check(all(f == "thread" or f in fields for f in of), f"{where}: of names no field")
        check((what, role) not in roles, f"{where}: two events {role} {what}")
        roles[what, role] = (of, nests)
    for (what, role), is_of in roles.items():
        other = {"opens": "closes", "closes": "opens"}.get(role)
        check(other is None or roles.get((what, other)) == is_of, f"state {what}: nothing {other} it like that")


def counter_group(schema, name):
    """Its counters, with those of the groups that it names."""
    check(name in schema.get("counter_groups", {}), f"no group of counters {name!r}")
    out = []
    for counter in schema["counter_groups"][name]:
        if "group" in counter:
            out += counter_group(schema, counter["group"])
        else:
            check(set(counter) <= {"name", "unit", "doc"} and is_name(counter["name"]), f"group {name}: {counter}")
            check(counter["name"] not in [c["name"] for c in out], f"group {name}: there are two {counter['name']}")
            out.append(counter)
    return out


def counter_fields(schema, event):
    """A field for each counter of the groups: "cpu_ns" of the event's own thread, "owner_cpu_ns" of its owner."""
    for of, group in event.get("counters", {}).items():
        for counter in counter_group(schema, group):
            if of == "thread":
                yield {**counter, "type": "counter", "of": of}
            else:
                yield {"name": f"{of}_{counter['name']}", "type": "counter", "of": of, "counter": counter["name"],
                       "unit": counter["unit"]}


def expand_counters(schema, locked):
    """What an event says of groups becomes fields: at their indexes in the lock, new ones at the end."""
    for event in schema["events"]:
        known = [text.partition(":")[0] for text in locked["events"].get(str(event["id"]), [""])[1:]]
        made = {f["name"]: f for f in counter_fields(schema, event)}
        own = list(event["fields"])
        fields = []
        for name in known if made else ():
            if name in made:
                fields.append(made.pop(name))
            elif own:
                fields.append(own.pop(0))
        event["fields"] = fields + own + list(made.values())


def load(path, locked):
    with open(path, encoding="utf-8") as f:
        schema = json.load(f)
    check(schema.get("format") == "spoor", "format is not spoor")
    expand_counters(schema, locked)
    enums = schema["enums"]
    for name, values in enums.items():
        check(is_name(name), f"enum {name!r}: must be lower case")
        check(values and all(map(is_name, values)), f"enum {name}: values must be lower case")
        check(len(set(values)) == len(values), f"enum {name}: a value is there twice")
        check("count" not in values, f"enum {name}: the value count is made by gen.py")
    ids, names = set(), set()
    for event in schema["events"]:
        name = event.get("name")
        check(is_name(name), f"an event's name must be lower case: {name!r}")
        check(set(event) <= EVENT_KEYS, f"{name}: unknown keys {sorted(set(event) - EVENT_KEYS)}")
        check(isinstance(event["id"], int) and 0 < event["id"] <= ID_MAX, f"{name}: bad id")
        check(event["id"] not in ids, f"{name}: id {event['id']} is used twice")
        check(name not in names, f"{name}: there are two events of this name")
        check(len(event["fields"]) <= FIELDS_MAX, f"{name}: more than {FIELDS_MAX} fields")
        ids.add(event["id"])
        names.add(name)
        seen = {}
        for field in event["fields"]:
            check_field(name, field, seen, enums)
    check_states(schema)
    schema["events"].sort(key=lambda e: e["id"])
    return schema


def c_identifiers(schema):
    """All enums of the header as (tag, [(identifier, value or None)]); no identifier twice."""
    out = [("event_id", [(f"EVENT_{e['name'].upper()}", e["id"]) for e in schema["events"]])]
    for name, values in schema["enums"].items():
        out.append((name, [(f"{name}_{v}".upper(), None) for v in values + ["count"]]))
    out.append(("counter", [(f"COUNTER_{c}".upper(), None) for c in counters(schema) + ["count"]]))
    out.append(("counters_of", [(f"COUNTERS_OF_{of}".upper(), None) for of in counters_of(schema) + ["count"]]))
    for event in schema["events"]:
        fields = [f["name"] for f in event["fields"]] + ["field_count"]
        out.append(("", [(f"{event['name']}_{f}".upper(), None) for f in fields]))
    seen = set()
    for tag, members in out:
        for ident, _ in members:
            check(ident not in seen, f"two meanings for the C identifier {ident}")
            seen.add(ident)
    return out


def counter_of(field):
    return field.get("counter", field["name"]) if field["type"] == "counter" else None


def counters(schema):
    """The names of all counters that a thread can have, those of groups first."""
    groups = schema.get("counter_groups", {})
    used = [counter_of(f) for e in schema["events"] for f in e["fields"] if f["type"] == "counter"]
    return list(dict.fromkeys([c["name"] for g in groups for c in counter_group(schema, g)] + used))


def counters_of(schema):
    """Whose counters events have: "thread", their own, and names of fields."""
    return list(dict.fromkeys(["thread", *(f["of"] for e in schema["events"] for f in e["fields"]
                                     if f["type"] == "counter")]))


def c_header(schema):
    out = ["/* log/schema_gen.h: ids, field indices and values of schemas/events.in.json. */",
           "/* Made by schemas/gen.py: edit events.in.json instead. */", "#pragma once", "",
           f"#define SCHEMA_VERSION {schema['version']}",
           f"#define SCHEMA_ID_MAX {schema['events'][-1]['id']}",
           f"#define EVENT_FIELDS_MAX {FIELDS_MAX}", ""]
    for tag, members in c_identifiers(schema):
        out.append(f"enum {tag} {{" if tag else "enum {")
        out += [f"\t{ident}," if value is None else f"\t{ident} = {value},"
                for ident, value in members]
        out += ["};", ""]
    for event in schema["events"]:
        ident = f"{event['name'].upper()}_FIELD_COUNT"
        out.append(f'_Static_assert({ident} <= EVENT_FIELDS_MAX, "{event["name"]}");')
    return "\n".join(out) + "\n"


def c_string(text):
    return "NULL" if text is None else json.dumps(text)


def c_field(event, field):
    names = f"{field['enum']}_names" if field["type"] == "enum" else "NULL"
    count = f"{field['enum'].upper()}_COUNT" if field["type"] == "enum" else "0"
    of = field.get("of", "thread")
    index = "-1" if of == "thread" else f"{event['name']}_{of}".upper()
    return (f"\t{{{c_string(field['name'])}, FIELD_{field['type'].upper()}, "
            f"{c_string(field.get('unit'))}, {names}, {count}, {index}, "
            f"{c_string(counter_of(field))}}},")


def c_source(schema):
    out = ["/* Made by schemas/gen.py: edit schemas/events.in.json instead. */",
           '#include "log/format/schema.h"', "", "#include <stddef.h>", ""]
    for name, values in schema["enums"].items():
        out.append(f"static const char *const {name}_names[] = {{")
        out += [f"\t{c_string(v)}," for v in values]
        out += ["};", ""]
    for event in schema["events"]:
        if event["fields"]:
            out.append(f"static const struct field_desc {event['name']}_fields[] = {{")
            out += [c_field(event, f) for f in event["fields"]]
            out += ["};", ""]
    out.append("const struct event_desc schema_table[] = {")
    for event in schema["events"]:
        name = event["name"]
        fields = f"{name}_fields" if event["fields"] else "NULL"
        out.append(f"\t{{EVENT_{name.upper()}, \"{name}\", {fields}, {name.upper()}_FIELD_COUNT}},")
    out += ["};", "", f"const unsigned schema_table_count = {len(schema['events'])};", ""]
    out.append("const uint16_t schema_index[SCHEMA_ID_MAX + 1] = {")
    out += [f"\t[EVENT_{e['name'].upper()}] = {n + 1}," for n, e in enumerate(schema["events"])]
    out += ["};", ""] + c_states(schema) + ["const uint8_t schema_counter[][EVENT_FIELDS_MAX] = {"]
    slots = {name: n for n, name in enumerate(counters(schema))}
    for event in schema["events"]:
        row = ", ".join(str(slots.get(counter_of(f), 0)) for f in event["fields"]) or "0"
        out.append(f"\t{{{row}}},")
    out += ["};", ""] + c_counter_fields(schema)
    return "\n".join(out) + "\n"


def c_counter_fields(schema):
    out = ["const uint8_t schema_counter_field[SCHEMA_ID_MAX + 1][COUNTERS_OF_COUNT][COUNTER_COUNT] = {"]
    for event in schema["events"]:
        for of in dict.fromkeys(f["of"] for f in event["fields"] if f["type"] == "counter"):
            indexes = [f"[{f'COUNTER_{counter_of(f)}'.upper()}] = {n + 1}" for n, f in enumerate(event["fields"])
                      if f["type"] == "counter" and f["of"] == of]
            out.append(f"\t[EVENT_{event['name'].upper()}][COUNTERS_OF_{of.upper()}] = {{{', '.join(indexes)}}},")
    return out + ["};"]


def c_states(schema):
    whats = list(dict.fromkeys(s[1] for s in map(state_of, schema["events"]) if s))
    out = ["const struct schema_state schema_state[] = {"]
    for event in schema["events"]:
        if not (state := state_of(event)):
            out.append("\t{0},")
            continue
        role, what, of, nests = state
        index = ["-1" if f == "thread" else f"{event['name']}_{f}".upper() for f in of]
        out.append(f"\t{{STATE_{role.upper()}, {whats.index(what)}, {int(nests)}, {len(of)}, "
                   f"{{{', '.join(index)}}}}},")
    return out + ["};", ""]


def docs_state(event):
    if not (state := state_of(event)):
        return ""
    role, what, of, nests = state
    of = " and ".join(f"`{f}`" for f in of)
    if role == "keeps":
        return f" The last one of each {of} is open."
    return f" {role.capitalize()} `{what}` of {of}{'; these nest' if nests and role == 'opens' else ''}."


def docs_field(field):
    kind = field["type"]
    if kind == "enum":
        kind = f"enum {field['enum']}"
    elif kind == "counter":
        kind = f"counter {counter_of(field)} of {field['of']}"
    text = "; ".join(t for t in (field.get("unit"), field.get("doc")) if t)
    return f"| `{field['name']}` | {kind} | {text} |"


def docs_tables(schema):
    out = ["### Enums", "", "| enum | values, from 0 |", "|---|---|"]
    out += [f"| {name} | {', '.join(f'{n} {v}' for n, v in enumerate(values))} |"
            for name, values in schema["enums"].items()]
    out += ["", "### Events"]
    for event in schema["events"]:
        out += ["", f"#### {event['id']} `{event['name']}`", "", event["doc"] + docs_state(event)]
        if event["fields"]:
            out += ["", "| field | type | meaning |", "|---|---|---|"]
            out += [docs_field(f) for f in event["fields"]]
        else:
            out += ["", "No fields."]
    return "\n".join(out)


def docs_replace(schema, text):
    begin, end = text.find(MARK_BEGIN), text.find(MARK_END)
    check(0 <= begin < end, "event-log.md has lost its two marker comments")
    return text[:begin + len(MARK_BEGIN)] + "\n" + docs_tables(schema) + "\n" + text[end:]


def one_line(pairs):
    return json.dumps(pairs, ensure_ascii=False)


def expanded(schema):
    """events.json: a line for each enum and field."""
    enums = ",\n".join(f"\t\t{one_line(n)}: {one_line(v)}" for n, v in schema["enums"].items())
    events = []
    for event in schema["events"]:
        head = one_line({k: v for k, v in event.items() if k not in ("fields", "counters")})[:-1]
        fields = ",\n".join(f"\t\t\t{one_line(f)}" for f in event["fields"])
        events.append(f'\t\t{head}, "fields": [' + (f"\n{fields}\n\t\t]}}" if fields else "]}"))
    return (f'{{\n\t"format": {one_line(schema["format"])},\n\t"version": {schema["version"]},\n'
            f'\t"comment": "The event log\'s vocabulary, for programs that read it. Ids are never reused, fields are '
            f'only appended. Made by schemas/gen.py from events.in.json.",\n'
            f'\t"enums": {{\n{enums}\n\t}},\n\t"events": [\n' + ",\n".join(events) + "\n\t]\n}\n")


def documents(schema, events):
    """The files beside it that are made of it: path and text. events.json is not made of itself."""
    folder = os.path.dirname(events)
    path = os.path.join(folder, "event-log.md")
    with open(path, encoding="utf-8") as f:
        yield path, docs_replace(schema, f.read())
    if os.path.basename(events) == "events.in.json":
        yield os.path.join(folder, "events.json"), expanded(schema)


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def check_lock(schema, locked, args):
    """Refuses what would make old logs unreadable; with --lock takes in what is new."""
    path = os.path.join(os.path.dirname(args.events), "events.lock.json")
    now = lock.of_schema(schema)
    wrong = list(lock.differences(locked, now))
    check(not wrong, "this would change what is in logs already:\n  " + "\n  ".join(wrong))
    if args.lock:
        write(path, lock.text(now))
    check(not args.check_lock or {k: locked[k] for k in now} == now,
          f"{path} lacks something new: run schemas/gen.py {args.events} --lock")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("events")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--c", metavar="DIR")
    group.add_argument("--docs", action="store_true")
    group.add_argument("--check-docs", action="store_true")
    group.add_argument("--lock", action="store_true")
    group.add_argument("--check-lock", action="store_true")
    args = parser.parse_args()
    try:
        locked = lock.load(os.path.join(os.path.dirname(args.events), "events.lock.json"))
        schema = load(args.events, locked)
        check_lock(schema, locked, args)
        if args.lock or args.check_lock:
            return 0
        header, source = c_header(schema), c_source(schema)
        if args.c:
            write(os.path.join(args.c, "schema_gen.h"), header)
            write(os.path.join(args.c, "schema_gen.c"), source)
            return 0
        for path, text in documents(schema, args.events):
            check(args.docs or text == read(path), f"{path} is stale: run schemas/gen.py {args.events} --docs")
            if args.docs:
                write(path, text)
        return 0
    except (OSError, ValueError, KeyError, TypeError, SchemaError) as err:
        print(f"gen.py: {args.events}: {err!r}" if isinstance(err, (KeyError, TypeError))
              else f"gen.py: {args.events}: {err}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
