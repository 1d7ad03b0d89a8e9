"""Prints a checkpoint or savepoint of weir as lines of JSON, without weir: python3 read_checkpoint.py FOLDER"""

import json
import pathlib
import struct
import sys
import zlib

KNOWN = {"shared-files", "changes", "native-state", "key-types", "destinations", "kept-for-user", "record-keys"}
KINDS = ["value", "list", "map", "reducing", "aggregating"]


class Reader:
    """Numbers are big-endian; reading past the end is an error."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, count):
        if self.at + count > len(self.data):
            raise ValueError(f"cut short at byte {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.bytes(struct.calcsize(form)))[0]

    def u8(self):
        return self.number("B")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def block(self):
        return self.bytes(self.varint())

    def text(self):
        return self.block().decode("utf-8")

    def list(self, item):
        return [item() for _ in range(self.varint())]

    def optional(self, item):
        return item() if self.u8() else None

    def word(self, words):
        return words[self.u8()]

    @property
    def rest(self):
        return len(self.data) - self.at


def serializer(r):
    return f"{r.text()} v{r.varint()}"


def blob(r):
    kind = r.word(["inline", "file", "shared"])
    if kind == "inline":
        return {"kind": kind, "bytes": r.block()}
    key = r.text() if kind == "shared" else None
    path, length, algorithm, checksum = r.text(), r.varint(), r.u8(), r.number("I")
    if algorithm != 0:
        raise ValueError(f"checksum algorithm {algorithm}")
    return {"kind": kind, "key": key, "path": path, "length": length, "checksum": checksum}


def keyed(r):
    handle = {"format": r.word(["canonical", "changes", "native"]), "range": [r.varint(), r.varint()]}
    handle["states"] = r.list(lambda: {"name": r.text(), "kind": r.word(KINDS), "serializer": serializer(r)})
    if handle["format"] == "native":
        handle["engine"] = f"{r.text()} {r.text()}"
        handle["options"] = dict(r.list(lambda: (r.text(), r.text())))
        handle["watermark"] = r.optional(lambda: r.number("d"))
        handle["files"] = r.list(lambda: {"name": r.text(), "blob": blob(r)})
    else:
        handle["groups"] = r.list(lambda: {"keyGroup": r.varint(), "offset": r.varint(), "length": r.varint()})
        handle["blob"] = blob(r)
    return handle


def operator_state(r):
    handle = {"name": r.text(), "mode": r.word(["list", "union", "broadcast"]), "serializer": serializer(r)}
    return handle | {"count": r.varint(), "blob": blob(r)}


def committables(r, features):
    if "destinations" not in features:
        raise ValueError("prepared output without its destination")
    destination = {"id": r.text(), "name": r.text()}
    return {"destination": destination, "serializer": serializer(r), "newest": r.varint(), "count": r.varint(), "blob": blob(r)}


def channel(r, features):
    handle = {"kind": r.word(["input", "output", "loop"])}
    handle |= {"producer": r.text(), "output": r.varint(), "consumer": r.text(), "input": r.varint()}
    handle |= {"fromSubtask": r.varint(), "toSubtask": r.varint(), "serializer": serializer(r), "timed": bool(r.u8())}
    if "record-keys" in features:
        handle["keyed"] = bool(r.u8())
    return handle | {"count": r.varint(), "blob": blob(r)}


def subtask(r, features):
    state = {"index": r.varint(), "keyed": r.list(lambda: keyed(r)), "operator": r.list(lambda: operator_state(r))}
    state["committables"] = r.optional(lambda: committables(r, features))
    state["channels"] = r.list(lambda: channel(r, features))
    if "key-types" in features:
        state["keyTypes"] = r.optional(lambda: r.list(r.u8))
    return state


def operator(r, features):
    op = {"uid": r.text(), "parallelism": r.varint(), "maxParallelism": r.varint()}
    op["status"] = r.word(["running", "finished", "partly-finished"])
    if op["status"] == "partly-finished":
        op["finishedSubtasks"] = r.list(r.varint)
    op["enumerator"] = r.optional(lambda: {"serializer": serializer(r), "bytes": r.block()})
    op["subtasks"] = r.list(lambda: subtask(r, features))
    return op


def metadata(data):
    r = Reader(data)
    if r.bytes(8) != b"weirmeta":
        raise ValueError("does not begin like a _metadata")
    if r.number("I") != len(data):
        raise ValueError("is cut short, or has something after its end")
    if zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "big"):
        raise ValueError("is damaged")
    r = Reader(data[:-4])
    r.at = 12
    if (version := r.number("H")) != 1:
        raise ValueError(f"has format version {version}")
    features = r.list(r.text)
    if unknown := set(features) - KNOWN:
        raise ValueError(f"needs {unknown}")
    meta = {"features": features, "job": r.text(), "lineage": r.text(), "attempt": r.varint()}
    meta |= {"checkpointId": r.varint(), "kind": r.word(["checkpoint", "savepoint"]), "triggeredAt": r.number("d")}
    meta["restoredFrom"] = r.optional(lambda: {"checkpointId": r.varint(), "pointer": r.text()})
    meta |= {"weirVersion": r.text(), "nodeVersion": r.text(), "selfContained": bool(r.u8()), "graphHash": r.text()}
    meta["operators"] = r.list(lambda: operator(r, features))
    if "kept-for-user" in features:
        meta["keptForUser"] = r.list(r.varint)
    if r.rest:
        raise ValueError(f"has {r.rest} bytes that mean nothing")
    return meta


def bytes_of(handle, folder):
    """What a blob stands for, checked."""
    if handle["kind"] == "inline":
        return handle["bytes"]
    data = ((folder.parent / "shared" if handle["kind"] == "shared" else folder) / handle["path"]).read_bytes()
    if len(data) != handle["length"] or zlib.crc32(data) != handle["checksum"]:
        raise ValueError(f"{handle['path']} is damaged")
    return data


def key(data):
    r = Reader(data)
    tag = r.u8()
    match tag:
        case 1 | 2:
            return tag == 2
        case 3 | 4:
            return r.number("i" if tag == 3 else "d")
        case 5:
            return r.bytes(r.rest).decode("utf-8")
        case 6 | 7:
            magnitude = int.from_bytes(r.bytes(r.rest), "big")
            return magnitude if tag == 6 else -magnitude
        case 8:
            parts = []
            while r.rest:
                parts.append(key(r.block()))
            return tuple(parts)
    raise ValueError(f"no key begins with {tag}")


def value(r):
    """A value of the serializer msgpack: bare ones as they are, objects as the bytes that msgpackr packed."""
    tag = r.u8()
    match tag:
        case 0 | 1:
            return None
        case 2 | 3:
            return tag == 3
        case 4 | 5:
            return r.number("i" if tag == 4 else "d")
        case 6:
            return r.text()
        case 7:
            return {"packed": r.block().hex()}
        case 8:
            return {"packed": r.block().hex(), "negativeZeros": r.list(r.varint)}
    raise ValueError(f"no value begins with {tag}")


def section_value(ref):
    """How to read a value of this serializer, or None for one that only a program knows."""
    name = ref.split(" v")[0].removeprefix("ttl:").split("#")[0]
    if name != "msgpack":
        return None
    if not ref.startswith("ttl:"):
        return value

    def stamped(r):
        r.bytes(12)
        return value(r)

    return stamped


def apply_rows(section, kind, is_change, read, into):
    """Rows hold in their order: a put replaces, an append and a row of a list add, a removal removes."""
    r = Reader(section["rows"])
    for _ in range(section["count"]):
        what = r.word([None, "put", "append", "remove", "remove-entry"]) if is_change else "row"
        k = key(r.block())
        if what == "remove":
            into.pop(k, None)
        elif what == "remove-entry":
            into.get(k, {}).pop(key(r.block()), None)
        elif kind == "list":
            values = r.list(lambda: read(r))
            into[k] = values if what == "put" else into.get(k, []) + values
        elif kind == "map":
            map_key = key(r.block())
            into.setdefault(k, {})[map_key] = read(r)
        else:
            into[k] = read(r)
    if r.rest:
        raise ValueError("bytes are left after the rows")


def sections(handle, data):
    """Each section of canonical or changed state, its checksum checked."""
    for group in handle["groups"]:
        part = data[group["offset"] : group["offset"] + group["length"]]
        r = Reader(part)
        while r.rest:
            start, kind = r.at, r.u8()
            found = {"keyGroup": r.number("H")}
            if kind == 1:
                found["watermark"] = r.optional(lambda: r.number("d"))
                actual = zlib.crc32(part[start : r.at])
            else:
                found["state"] = handle["states"][r.varint()]
                found["serializer"], found["count"] = serializer(r), r.varint()
                length = r.varint()
                actual = zlib.crc32(part[r.at + 4 : r.at + 4 + length], zlib.crc32(part[start : r.at]))
            if r.number("I") != actual:
                raise ValueError(f"a section of key group {found['keyGroup']} is damaged")
            if kind == 2:
                found["rows"] = r.bytes(length)
                yield found


def rows_of(op, folder):
    """What the operator has for each key, changes applied, in lines."""
    states = {}
    for sub in op["subtasks"]:
        for handle in sub["keyed"]:
            if handle["format"] == "native":
                yield {"row": "native", "operator": op["uid"], "subtask": sub["index"], "engine": handle["engine"]}
                continue
            for section in sections(handle, bytes_of(handle["blob"], folder)):
                state, read = section["state"], section_value(section["serializer"])
                if read is None:
                    yield {"row": "opaque", "operator": op["uid"], "state": state["name"], "serializer": section["serializer"]}
                    continue
                into = states.setdefault((state["name"], state["kind"]), {})
                apply_rows(section, state["kind"], handle["format"] == "changes", read, into)
    for (name, kind), entries in states.items():
        for k, v in entries.items():
            line = {"row": "state", "operator": op["uid"], "state": name, "kind": kind, "key": k}
            if kind == "map":
                yield from (line | {"mapKey": map_key, "value": each} for map_key, each in v.items())
            else:
                yield line | {"values" if kind == "list" else "value": v}


def main(folder):
    meta = metadata((folder / "_metadata").read_bytes())
    operators = meta.pop("operators")
    print(json.dumps({"row": "checkpoint"} | meta))
    for op in operators:
        uid = op["uid"]
        print(json.dumps({"row": "operator", "uid": uid, "parallelism": op["parallelism"], "status": op["status"]}))
        for line in rows_of(op, folder):
            print(json.dumps(line))
        for sub in op["subtasks"]:
            at = {"operator": uid, "subtask": sub["index"]}
            for state in sub["operator"]:
                data = bytes_of(state["blob"], folder)
                about = {"state": state["name"], "mode": state["mode"], "count": state["count"], "bytes": len(data)}
                print(json.dumps({"row": "operator-state"} | at | about))
            for each in sub["channels"]:
                bytes_of(each["blob"], folder)
                print(json.dumps({"row": "in-flight"} | at | {"from": each["producer"], "count": each["count"]}))
            if sub["committables"]:
                bytes_of(sub["committables"]["blob"], folder)
                about = {"count": sub["committables"]["count"], "destination": sub["committables"]["destination"]["name"]}
                print(json.dumps({"row": "committables"} | at | about))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
