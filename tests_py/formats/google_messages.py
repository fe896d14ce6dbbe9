"""Google's own protocol buffers as the oracle: its message types from our schemas' tables."""

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from webtensor.formats.protobuf import Field, Message, MessageType, Schema

__all__ = ["assert_equal", "assert_rows_are_facts", "message_class"]

PACKAGE = "tested"


def message_class(schema: Schema, name: str) -> Any:
    """Google's class of a message type."""
    file = FileDescriptorProto(name="tested.proto", package=PACKAGE, syntax="proto3")
    for enumeration, names in schema.enumerations.items():
        row = file.enum_type.add(name=enumeration)
        for value, number in sorted(names.items(), key=lambda item: abs(item[1])):
            row.value.add(name=value, number=number)
    for message_type in schema.types.values():
        row = file.message_type.add(name=message_type.name)
        oneofs = dict.fromkeys(field.oneof for field in message_type.by_name.values())
        positions = {oneof: index for index, oneof in enumerate(filter(None, oneofs))}
        for oneof in positions:
            row.oneof_decl.add(name=oneof)
        for field in message_type.by_name.values():
            described = row.field.add(name=field.name, number=field.number)
            describe(described, row, field, schema)
            if field.oneof:
                described.oneof_index = positions[field.oneof]
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def describe(
    described: FieldDescriptorProto, row: DescriptorProto, field: Field, schema: Schema
) -> None:
    """Fill in the kind of a field."""
    is_list = field.is_repeated or field.key
    described.label = (
        FieldDescriptorProto.LABEL_REPEATED if is_list else FieldDescriptorProto.LABEL_OPTIONAL
    )
    if field.key:
        entry = f"{field.name.title().replace('_', '')}Entry"
        nested = row.nested_type.add(name=entry)
        nested.options.map_entry = True
        for number, name, kind in ((1, "key", field.key), (2, "value", field.kind)):
            part = nested.field.add(name=name, number=number)
            describe(part, nested, Field(number, name, kind), schema)
        described.type_name = f".{PACKAGE}.{row.name}.{entry}"
        described.type = FieldDescriptorProto.TYPE_MESSAGE
    elif field.kind in schema.types:
        described.type_name = f".{PACKAGE}.{field.kind}"
        described.type = FieldDescriptorProto.TYPE_MESSAGE
    elif field.kind in schema.enumerations:
        described.type_name = f".{PACKAGE}.{field.kind}"
        described.type = FieldDescriptorProto.TYPE_ENUM
    else:
        described.type = FieldDescriptorProto.Type.Value(f"TYPE_{field.kind.upper()}")


#: Fields from this number on are our own.
OUR_FIELDS = 1000


def real_fields(message_type: MessageType) -> list[Field]:
    return [field for field in message_type.by_name.values() if field.number < OUR_FIELDS]


def assert_equal(ours: Message, theirs: Any, *, maps: bool = True) -> None:
    """Compare all fields of two messages, and which of a group is present.

    Google drops an entry of a map in which there are unknown fields; without ``maps`` these are not
    compared.
    """
    for field in real_fields(ours.type):
        value, expected = ours[field.name], getattr(theirs, field.name)
        if field.key and maps:
            assert set(value) == set(expected)
            for key in value:
                assert_same(value[key], expected[key], maps)
        elif field.is_repeated:
            assert len(value) == len(expected)
            for item, expected_item in zip(value, expected, strict=True):
                assert_same(item, expected_item, maps)
        elif isinstance(value, Message):
            assert (field.name in ours) == theirs.HasField(field.name)
            if field.name in ours:
                assert_equal(value, expected, maps=maps)
        elif not field.key:
            assert_same(value, expected, maps)
        if field.oneof:
            assert ours.which(field.oneof) == (theirs.WhichOneof(field.oneof) or "")


def assert_same(value: Any, expected: Any, maps: bool) -> None:
    if isinstance(value, Message):
        assert_equal(value, expected, maps=maps)
    elif isinstance(value, float):
        assert value == expected or (value != value and expected != expected)
    else:
        assert value == expected


def assert_rows_are_facts(schema: Schema, *descriptors: Any) -> None:
    """Compare the tables of a schema with Google's descriptions of the messages' own authors."""
    described = {message.name: message for message in messages_below(descriptors)}
    for message_type in schema.types.values():
        fields = described[message_type.name].fields_by_name
        for field in real_fields(message_type):
            expected = row(fields[field.name], schema)
            assert (message_type.name, field) == (message_type.name, expected)


def messages_below(descriptors: Iterable[Any]) -> Iterator[Any]:
    """The descriptions of messages, and of those in them; of one name the first comes last."""
    waiting, messages = list(descriptors), {}
    while waiting:
        message = waiting.pop(0)
        if message.full_name not in messages:
            messages[message.full_name] = message
            waiting += [field.message_type for field in message.fields if field.message_type]
    return reversed(messages.values())


def row(field: Any, schema: Schema) -> Field:
    """Our row for a field that Google describes."""
    key, value = "", field
    if field.message_type and field.message_type.GetOptions().map_entry:
        key = kind(field.message_type.fields_by_name["key"], schema)
        value = field.message_type.fields_by_name["value"]
    oneof = field.containing_oneof.name if field.containing_oneof else ""
    is_list = field.is_repeated and not key
    return Field(field.number, field.name, kind(value, schema), is_list, key, oneof)


def kind(field: Any, schema: Schema) -> str:
    """A kind of fields; enumerations that the schema does not name are "int32"."""
    if field.enum_type:
        return field.enum_type.name if field.enum_type.name in schema.enumerations else "int32"
    if field.message_type:
        return field.message_type.name
    return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
