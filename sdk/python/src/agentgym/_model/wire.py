"""Protobuf messages, read field by field and written again in the form that protobuf's own writers make."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .failure import CONTROL, ModelWalk, model_failure, shown

# Wire types of protobuf that ONNX uses. Groups (3 and 4), long out of use, nest without bound: refused.
VARINT = 0
BYTES = 2
FIXED32 = 5

_MAX_SAFE = 2**53 - 1


class FieldRule(NamedTuple):
    """How one field of a message is read."""

    name: str
    wire: int
    most: int
    """Times that it may occur; elements, where several lie packed in one field."""
    once: bool
    """A second one is not one too many, but a contradiction."""
    take: Callable[[Any], bytes | None]
    """Takes the value. A message's gives what is to be written in its place; others give None: the value itself."""


Rules = Mapping[int, FieldRule]


def integer_field(name: str, take: Callable[[int], None]) -> FieldRule:
    """An integer, int32 or int64, at most once. Those beyond ±2^53 are refused."""
    return FieldRule(name, VARINT, 1, True, take)


def integer_fields(name: str, most: int, take: Callable[[int], None]) -> FieldRule:
    return FieldRule(name, VARINT, most, False, take)


def float_field(name: str, take: Callable[[float], None]) -> FieldRule:
    return FieldRule(name, FIXED32, 1, True, take)


def float_fields(name: str, most: int, take: Callable[[float], None]) -> FieldRule:
    return FieldRule(name, FIXED32, most, False, take)


def bytes_field(name: str, take: Callable[[memoryview], None]) -> FieldRule:
    """A string, bytes or an array, at most once: a part of the file, not a copy."""
    return FieldRule(name, BYTES, 1, True, take)


def bytes_fields(name: str, most: int, take: Callable[[memoryview], None]) -> FieldRule:
    return FieldRule(name, BYTES, most, False, take)


def message_field(name: str, read: Callable[[memoryview], bytes]) -> FieldRule:
    """A message, at most once. `read` gives what is to be written again."""
    return FieldRule(name, BYTES, 1, True, read)


def message_fields(name: str, most: int, read: Callable[[memoryview], bytes]) -> FieldRule:
    return FieldRule(name, BYTES, most, False, read)


def read_message(walk: ModelWalk, data: memoryview, what: str, rules: Rules) -> bytes:
    """Reads one message, in the order of the file, and gives the bytes of the values that were taken.

    It knows no nesting: a handler that is given a message reads it in turn, as deep as the code goes and no deeper. Every field
    must have a rule, its wire type, and occur no more often than the rule says, because readers of protobuf merge, overwrite and
    skip in different ways. Raises `model_truncated`, `model_malformed`, `model_field_unknown`, `model_field_duplicate`,
    `model_too_many_parts`.
    """
    reader = WireReader(data, what)
    written: list[tuple[int, bytes]] = []
    counts: dict[int, int] = {}
    while not reader.done:
        tag = reader.unsigned()
        number, wire = tag >> 3, tag & 7
        if number < 1 or number > 536_870_911:
            raise reader.malformed(f"a field has the number {number}")
        rule = rules.get(number)
        if rule is None:
            raise model_failure(
                "model_field_unknown", f"{what} has a field {number} that ONNX does not have there", field_number=number
            )
        walk.count()
        taken, encoded = _take_field(walk, reader, rule, number, wire)
        if taken > 0:
            written.append((number, encoded))
        counts[number] = counts.get(number, 0) + taken
        if counts[number] <= rule.most:
            continue
        if rule.once:
            raise model_failure("model_field_duplicate", f'{what} has the field "{rule.name}" twice', field=rule.name)
        raise model_failure(
            "model_too_many_parts", f'{what} has more than {rule.most} of "{rule.name}"', field=rule.name, limit=rule.most
        )
    written.sort(key=lambda field: field[0])
    return b"".join(encoded for _, encoded in written)


def read_packed_integers(walk: ModelWalk, data: memoryview, what: str, take: Callable[[int], None]) -> int:
    """Numbers that lie one after another in the bytes of a packed field; gives how many there are."""
    reader = WireReader(data, what)
    count = 0
    while not reader.done:
        walk.count()
        take(reader.integer())
        count += 1
    return count


def _take_field(walk: ModelWalk, reader: WireReader, rule: FieldRule, number: int, wire: int) -> tuple[int, bytes]:
    """Reads a field whose tag was read; gives how many values it holds, and the field to be written."""
    if wire == BYTES and rule.wire != BYTES and not rule.once:
        return _take_packed(walk, WireReader(reader.bytes(), reader.what), rule, number)
    if wire != rule.wire:
        raise reader.malformed(f'the field "{rule.name}" has wire type {wire}')
    tag = varint(number * 8 + wire)
    if wire == VARINT:
        integer = reader.integer()
        rule.take(integer)
        return 1, tag + varint(integer)
    if wire == FIXED32:
        raw = reader.fixed32()
        rule.take(struct.unpack("<f", raw)[0])
        return 1, tag + bytes(raw)
    content = reader.bytes()
    replaced = rule.take(content)
    body = content if replaced is None else replaced
    return 1, b"".join((tag, varint(len(body)), body))


def _take_packed(walk: ModelWalk, reader: WireReader, rule: FieldRule, number: int) -> tuple[int, bytes]:
    """A list of numbers in one field, or in several, of which the walk's reader makes one list."""
    values: list[bytes] = []
    while not reader.done and len(values) <= rule.most:
        walk.count()
        if rule.wire == VARINT:
            integer = reader.integer()
            rule.take(integer)
            values.append(varint(integer))
        else:
            raw = reader.fixed32()
            rule.take(struct.unpack("<f", raw)[0])
            values.append(bytes(raw))
    body = b"".join(values)
    return len(values), varint(number * 8 + BYTES) + varint(len(body)) + body


def varint(value: int) -> bytes:
    """A number in as few bytes as it needs; negative ones take all of the ten."""
    rest = value & (2**64 - 1)
    encoded = bytearray()
    while rest >= 128:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


class WireReader:
    """The primitives of protobuf's encoding, each within the bytes that it was given."""

    def __init__(self, data: memoryview, what: str) -> None:
        self.what = what
        self._data = data
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._data)

    def unsigned(self) -> int:
        """A varint of at most 53 bits: tags and lengths."""
        value = self.integer()
        if value < 0:
            raise self.malformed("a length or tag is too large")
        return value

    def integer(self) -> int:
        """A signed varint: negative numbers take all of its ten bytes."""
        value = 0
        for i in range(10):
            byte = self._data[self._advance(1)]
            value |= (byte & 0x7F) << 7 * i
            if byte >= 0x80:
                continue
            if i == 9 and byte > 1:
                break
            # The same number in more bytes than it needs is the same to protobuf, and something else to other readers.
            if byte == 0 and i > 0:
                raise self.malformed("a number is encoded in more bytes than necessary")
            signed = value - 2**64 if value >= 2**63 else value
            if not -_MAX_SAFE <= signed <= _MAX_SAFE:
                raise self.malformed("a number is too large")
            return signed
        raise self.malformed("a number has more than 64 bits")

    def fixed32(self) -> memoryview:
        at = self._advance(4)
        return self._data[at : at + 4]

    def bytes(self) -> memoryview:
        length = self.unsigned()
        at = self._advance(length)
        return self._data[at : at + length]

    def malformed(self, why: str) -> Exception:
        return model_failure("model_malformed", f"{self.what} cannot be read: {why}")

    def _advance(self, length: int) -> int:
        at = self._at
        missing = length - (len(self._data) - at)
        if missing > 0:
            raise model_failure("model_truncated", f"{self.what} ends within a field", missing_bytes=missing)
        self._at = at + length
        return at


def read_name(data: memoryview, what: str, walk: ModelWalk, optional: bool = False) -> str:
    """A name of a tensor, node, operator or attribute; "" where `optional`."""
    text = _decode(data, what, walk.limits.name_bytes)
    if text == "" and not optional:
        raise model_failure("model_name_invalid", f"{what} has an empty name")
    if CONTROL.search(text):
        raise model_failure("model_name_invalid", f"the name {shown(text)} of {what} contains a control character")
    return text


def check_text(data: memoryview, what: str, walk: ModelWalk) -> None:
    """Checks a text that means nothing to us: documentation, names of tools."""
    _decode(data, what, walk.limits.text_bytes)


def check_metadata(data: memoryview, what: str, walk: ModelWalk) -> bytes:
    """Checks one entry of a metadata list: two texts."""
    where = f"metadata of {what}"

    def key(name: memoryview) -> None:
        read_name(name, where, walk, True)

    return read_message(
        walk,
        data,
        where,
        {1: bytes_field("key", key), 2: bytes_field("value", lambda value: check_text(value, where, walk))},
    )


def _decode(data: memoryview, what: str, limit: int) -> str:
    if len(data) > limit:
        raise model_failure(
            "model_string_too_long", f"{what} has a string of {len(data)} bytes; the limit is {limit}", limit=limit
        )
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise model_failure("model_name_invalid", f"{what} has a string that is not UTF-8") from None
