"""Typed parameters of registered things, and the one line that a wrong value gets."""

import datetime
import difflib
import functools
import operator
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict

from bocu.core.errors import BocuError, shown, shown_key


def _no_boolean(value: object) -> object:
    # YAML's `true` would otherwise pass as the number 1.
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not a truth value")
    return value


def _calendar_day(value: object) -> object:
    # Numbers would pass as seconds since 1970.
    if type(value) is datetime.date or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("a day such as 2004-03-05 is wanted")


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Day = Annotated[datetime.date, BeforeValidator(_calendar_day)]
Integer = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean), pydantic.AllowInfNan(False)]
Positive = Annotated[Number, pydantic.Field(gt=0.0)]
NotNegative = Annotated[Number, pydantic.Field(ge=0.0)]
Count = Annotated[Integer, pydantic.Field(ge=1)]


LARGEST_SEED = 2**63 - 1  #: The largest integer that a run file holds.

_MOST_OTHERS = 10  # keys at fault that a line names

READING = "reading"  #: Key of a `Reading` in the context of a validation.


@dataclass(frozen=True)
class Reading:
    """How classes from outside, that what is validated may name, are found."""

    #: what paths of files are relative to; None where classes are not named by where they stand.
    folder: Path | None = None


SUCCESSORS = {
    "ball": "set",
    "distance": "name",
    "judge": "metric",
    "judges": "metrics",
}
"""Keys that experiment files no longer have, each with what it is called now."""


class Parameters(BaseModel):
    """Base of all typed sections of the configuration: immutable, unknown keys refused, text coerced to numbers.

    Every field carries a description; the JSON schema and the tables of the docs are made from them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)

    #: The key that a text alone stands for, where one may take the place of the whole section.
    in_short: ClassVar[str] = ""

    def unused(self) -> Mapping[str, str]:
        """Return the keys that change nothing as the others stand, each with the reason."""
        return {}

    def refuse_misfits(self) -> None:
        """Refuse, when an experiment is planned, what takes code of the user's, or a library's, to see.

        Raises:
            BocuError: a value is not allowed; the line begins with its key.
        """


def later(neutral: object) -> Callable[[object], bool]:
    """Return `exclude_if` of the field of an option that a class got when there could be results of it already.

    At its default, by which all is as it was without the option, specifications do not state it, and so what was
    published and run before goes on to be known as it was.

    Args:
        neutral: the default.
    """
    return functools.partial(operator.eq, neutral)


class NoParameters(Parameters):
    """Nothing to set."""


ParametersType = TypeVar("ParametersType", bound=Parameters)


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Say which allowed name is meant, or which there are.

    Returns:
        A clause to end an error line with, such as ``did you mean 'hills'? (allowed: hills, sensors)``.
    """
    known = sorted(allowed)
    listing = f"allowed: {', '.join(known)}" if known else "nothing is allowed here"
    meant = _meant(name, known)
    return f"{meant} ({listing})" if meant else listing


def _meant(name: object, known: Collection[str]) -> str:
    # Comparing takes time that grows with the text; no name is long.
    if not isinstance(name, str) or len(name) >= 100:
        return ""
    if (successor := SUCCESSORS.get(name)) in known:
        return f"it is called '{successor}' now"
    match = difflib.get_close_matches(name, known, n=1)
    return f"did you mean '{match[0]}'?" if match else ""


def validate(
    model: type[ParametersType], data: Mapping[str, object], where: str, reading: "Reading | None" = None
) -> ParametersType:
    """Build a typed section from plain data.

    Args:
        model: the section's type.
        data: what the user wrote.
        where: the file, and the key that the section stands under.
        reading: how classes from outside are found; left out, only what is installed or planned is.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed, for the first fault.
    """
    context = {READING: reading}
    try:
        return model.model_validate(data, context=context)
    except pydantic.ValidationError as error:
        key, message, others = _first_fault(model, data, error, context)
        listed = [f"{where.rpartition(': ')[2]}{other}" for other in others[:_MOST_OTHERS]]
        listed += ["..."] * (len(others) > _MOST_OTHERS)
        more = f" (and {len(others)} more: {', '.join(listed)})" if others else ""
        # A fault of the section itself has no key: then the section is named.
        raise BocuError(f"{f'{where}{key}'.rstrip(': .')}: {message}{more}") from None


def sections(section: Parameters) -> Iterator[tuple[str, Parameters]]:
    """Return a section and those inside it, each with the path of keys that leads there, ending in a dot."""
    yield "", section
    for key in (*type(section).model_fields, *(section.model_extra or ())):
        value = getattr(section, key)
        for part, inner in [(key, value)] if isinstance(value, Parameters) else _listed(key, value):
            for path, found in sections(inner):
                yield f"{part}.{path}", found


def _listed(key: str, value: object) -> list[tuple[str, Parameters]]:
    items = value if isinstance(value, list | tuple) else ()
    return [(f"{key}.{place}", item) for place, item in enumerate(items) if isinstance(item, Parameters)]


def _first_fault(
    model: object, data: object, error: pydantic.ValidationError, context: Mapping[str, object]
) -> tuple[str, str, list[str]]:
    """Return the path of keys of the first fault, what is wrong there, and the paths of the others."""
    # Unknown keys first: a misspelt key also makes the right one look missing.
    faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    (keys, annotation), *rest = (_place(model, each["loc"]) for each in faults)
    key = ".".join(map(shown_key, keys))
    others = [".".join(map(shown_key, other)) for other in dict.fromkeys(place for place, _ in rest) if other != keys]
    if len(_members(annotation)) > 1:
        inside, message, deeper = _union_fault(annotation, _value_at(data, keys, fault["input"]), context)
        return _below(key, inside), message, [*(_below(key, other) for other in deeper), *others]
    if fault["type"] == "extra_forbidden":
        fields = _keys_of(_place(model, fault["loc"][:-1])[1])
        return key, f"unknown key; {nearest(str(fault['loc'][-1]), fields)}", others
    if fault["type"] == "missing":
        return key, "this key is required", others
    message = fault["msg"].removeprefix("Value error, ")
    named, _, said = message.partition(": ")
    if said and named.partition(".")[0] in _keys_of(annotation):
        # The section's own check names the key.
        return _below(key, named), said, others
    if fault["type"] in ("model_type", "dict_type", "mapping_type"):
        message = "a mapping of keys to values is wanted"
    elif fault["type"] == "literal_error":
        meant = _meant(fault["input"], re.findall("'([^']*)'", message))
        message += f"; {meant}" if meant else ""
    return key, f"found {shown(fault['input'])}; {message[:1].lower()}{message[1:]}", others


def _below(key: str, inside: str) -> str:
    return ".".join(part for part in (key, inside) if part)


def _place(annotation: object, location: Sequence[str | int]) -> tuple[tuple[str | int, ...], object]:
    """Return the path of keys to a fault, or to the value of several allowed forms that it is in, and the type there.

    The type is None where nothing belongs.
    """
    for position, part in enumerate(location):
        members = _members(annotation) or (None,)
        if len(members) > 1:
            return tuple(location[:position]), annotation
        annotation = _inside(members[0], part)
    return tuple(location), annotation


def _inside(annotation: Any, part: str | int) -> object:
    """Return the type of what stands under a key, or at a place, of a type; None where that is not known."""
    if _is_model(annotation):
        field = annotation.model_fields.get(part)
        return field.annotation if field else None
    arguments = get_args(annotation)
    if get_origin(annotation) in (list, tuple):
        return arguments[0] if arguments else None
    return arguments[1] if get_origin(annotation) is dict else None


def _members(annotation: object) -> tuple[Any, ...]:
    """Return the forms that a type allows, but for null; itself, without what annotates it, where it is one form."""
    if get_origin(annotation) is Annotated:
        inner = get_args(annotation)[0]
        return _members(inner) if get_origin(inner) in (Union, types.UnionType) else (annotation,)
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(member for part in get_args(annotation) if part is not type(None) for member in _members(part))
    return (annotation,)


def _plain(annotation: object) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _is_model(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _keys_of(annotation: object) -> list[str]:
    (member,) = _members(annotation) or (None,)
    return [field.alias or name for name, field in member.model_fields.items()] if _is_model(member) else []


def _value_at(data: Any, keys: Sequence[str | int], otherwise: Any) -> object:
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return otherwise
    return data


def _union_fault(annotation: object, value: object, context: Mapping[str, object]) -> tuple[str, str, list[str]]:
    """Do as `_first_fault` for a value of several allowed forms: by the form that it has, or all forms there are."""
    if (form := _form_meant(_members(annotation), value)) is not None:
        try:
            pydantic.TypeAdapter(form).validate_python(value, context=dict(context))
        except pydantic.ValidationError as error:
            return _first_fault(form, value, error, context)
    forms = [_in_words(member) for member in _members(annotation)]
    names = [name for member in _members(annotation) for name in _names(member)]
    if type(None) in get_args(annotation):
        forms.append("null")
    meant = _meant(value, names)
    found = f"found {shown(value)}; {f'{meant} (' if meant else ''}allowed: {', '.join(forms)}{')' if meant else ''}"
    return "", found, []


def _form_meant(members: Sequence[object], value: object) -> Any:
    """Return the form that a value is meant to have.

    Of a mapping the only one, or the one that it names, or whose keys are nearest; of a list the only one; of a text
    the section that has a form in short.
    """
    if isinstance(value, Mapping):
        models = [member for member in members if _is_model(_plain(member))]
        close = [
            member
            for member in models
            if any(difflib.get_close_matches(str(key)[:100], _keys_of(member), n=1) for key in value)
        ]
        named = [member for member in close if _says_its_name(_plain(member), value)]
        return (named or close or (models if len(models) == 1 else [None]))[0]
    if isinstance(value, str):
        named = [member for member in members if _is_model(_plain(member)) and _plain(member).in_short]
        return named[0] if len(named) == 1 else None
    if isinstance(value, list | tuple) and value:
        lists = [member for member in members if get_origin(_plain(member)) in (list, tuple)]
        return lists[0] if len(lists) == 1 else None
    return None


def _says_its_name(model: Any, value: Mapping[str, Any]) -> bool:
    """Say whether a mapping has what a model's fields of fixed words ask for, such as its name."""
    words = {key: _names(field.annotation) for key, field in model.model_fields.items()}
    return all(value.get(key) in allowed for key, allowed in words.items() if allowed and key in value)


def _names(annotation: object) -> list[str]:
    if get_origin(annotation) is Literal:
        return [name for name in get_args(annotation) if isinstance(name, str)]
    return []


_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", datetime.date: "a date"}
_LIMITS = {"ge": "from {} on", "gt": "above {}", "le": "up to {}", "lt": "below {}"}


def _in_words(annotation: object) -> str:
    plain = _plain(annotation)
    if get_origin(plain) is Literal:
        return ", ".join(repr(name) for name in get_args(plain))
    if get_origin(plain) in (list, tuple):
        return f"a list, each {' or '.join(_in_words(member) for member in _members(get_args(plain)[0]))}"
    if _is_model(plain):
        return f"a mapping with {', '.join(repr(key) for key in _keys_of(plain))}"
    return " ".join([_KINDS.get(plain, "a mapping"), *_limits(annotation)])


def _limits(annotation: object) -> Iterator[str]:
    for note in get_args(annotation)[1:]:
        for constraint in getattr(note, "metadata", [note]):
            for name, words in _LIMITS.items():
                if (limit := getattr(constraint, name, None)) is not None:
                    yield words.format(f"{limit:g}")


def models_in(annotation: object) -> list[type[BaseModel]]:
    """Return the typed sections in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in getattr(annotation, "__args__", ()) for found in models_in(argument)]
