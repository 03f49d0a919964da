"""The promise of the event log: what schemas/events.lock.json has of the vocabulary never changes.

The lock has every event, field and enum value that was ever in a log, in a form in which all that a reader relies
on stands, and nothing else: docs may be reworded. It is only ever appended to: `gen.py events.in.json --lock`.
"""
import json

COMMENT = ("What logs out there rely on; made by schemas/gen.py --lock, which only appends. Not to be edited: "
           "an id, a name, a type, a unit or a place that is here stays as it is for ever.")


def field_text(field):
    """"owner_cpu_ns: counter cpu_ns of owner, ns": what stored values mean, but for words."""
    text = f"{field['name']}: {field['type']}"
    if field["type"] == "enum":
        text += f" {field['enum']}"
    elif field["type"] == "counter":
        text += f" {field.get('counter', field['name'])} of {field['of']}"
    return text + (f", {field['unit']}" if "unit" in field else "")


def of_schema(schema):
    return {"enums": schema["enums"],
            "events": {str(e["id"]): [e["name"], *map(field_text, e["fields"])] for e in schema["events"]}}


def differences(locked, now):
    """What of the lock is not there any more, or elsewhere: a sentence each."""
    for name, values in locked["enums"].items():
        for index, value in enumerate(values):
            here = now["enums"].get(name, [])[index:index + 1]
            if here != [value]:
                yield f"value {index} of enum {name} is {value} in logs, and now {here[0] if here else 'gone'}"
    for number, (name, *fields) in locked["events"].items():
        if number not in now["events"]:
            yield f"event {number}, {name}, is in logs, and now gone"
            continue
        name_now, *fields_now = now["events"][number]
        if name_now != name:
            yield f"event {number} is {name} in logs, and now {name_now}: ids are not used again"
            continue
        for index, field in enumerate(fields):
            here = fields_now[index:index + 1]
            if here != [field]:
                yield f"field {index} of {name} is '{field}' in logs, and now '{here[0] if here else 'gone'}'"


def load(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {"enums": {}, "events": {}}


def text(lock):
    """One event and one enum per line, so that a diff shows what was appended."""
    def lines(table, key):
        return ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(table.items(), key=key))

    return (f'{{\n "comment": {json.dumps(COMMENT)},\n "enums": {{\n{lines(lock["enums"], lambda i: i[0])}\n }},\n'
            f' "events": {{\n{lines(lock["events"], lambda i: int(i[0]))}\n }}\n}}\n')
