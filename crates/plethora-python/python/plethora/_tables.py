"""Tables of pandas, polars, Arrow and Hugging Face, none of which is imported here."""

from __future__ import annotations

from typing import Any, Sequence

from ._errors import DataError

_LIBRARIES = ("pandas", "polars", "pyarrow", "datasets")

# Cells without a value, by the names of their types.
_MISSING = ("NoneType", "NAType", "NaTType")


def is_table(value: object) -> bool:
    """True for rows with named columns."""
    if not _is_of_library(value):
        return False
    # Asking the type, as columns of a lazy frame are known only after some work.
    return hasattr(type(value), "column_names") or hasattr(type(value), "columns")


def is_column(value: object) -> bool:
    """True for one column of such a table, or an array of Arrow."""
    return _is_of_library(value) and not is_table(value)


def column_names(table: Any) -> list[str]:
    """The names of the columns."""
    table = _collected(table)
    names = getattr(table, "column_names", None)
    if isinstance(names, dict):
        splits, first = ", ".join(names), next(iter(names), "train")
        raise DataError(f"there are several splits ({splits}); take one of them, as data[{first!r}]")
    if names is None and not hasattr(table, "columns"):
        raise DataError("a data set that is read as a stream has no columns yet; load it whole")
    return [str(name) for name in (table.columns if names is None else names)]


def column(table: Any, name: str, argument: str) -> list[Any]:
    """The cells of a column; `argument` chooses another where there is none of this name."""
    table = _collected(table)
    found = column_names(table)
    if name not in found:
        raise DataError(
            f"no column `{name}`; columns found: {', '.join(found)}. Name another with {argument}="
        )
    if hasattr(table, "select_columns"):
        return _names_of_classes(table, name, list(table.select_columns([name])[:][name]))
    return cells(table[name])


def cells(values: Any) -> list[Any]:
    """The cells of a column that stands alone."""
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values[:])


def texts(table: Any, fields: Sequence[str]) -> list[Any]:
    """One text for each row: that of the only field, or a line for each of several."""
    columns = [column(table, field, "text_field") for field in fields]
    if len(columns) == 1:
        return ["" if is_missing(cell) else cell for cell in columns[0]]
    filled = ([str(cell) for cell in row if not is_missing(cell)] for row in zip(*columns))
    return ["\n".join(text for text in row if text) for row in filled]


def numbers(table: Any) -> list[list[Any]]:
    """The cells of a table with a column of 0 and 1 for each label, column by column."""
    return [column(table, name, "labels") for name in column_names(table)]


def is_missing(cell: object) -> bool:
    """True for an empty cell: None, NaN or NA."""
    if isinstance(cell, float):
        return cell != cell
    return type(cell).__name__ in _MISSING


def _is_of_library(value: object) -> bool:
    bases = (base.__module__.partition(".")[0] for base in type(value).__mro__)
    return any(base in _LIBRARIES for base in bases)


def _collected(table: Any) -> Any:
    return table.collect() if hasattr(table, "collect") else table


def _names_of_classes(table: Any, name: str, values: list[Any]) -> list[Any]:
    """Numbers of classes by their names, where the data set knows these."""
    feature = table.features[name]
    names = getattr(getattr(feature, "feature", feature), "names", None)
    if names is None:
        return values
    each = (cell if isinstance(cell, (list, tuple)) else [cell] for cell in values)
    return [[names[number] for number in cell if number is not None] for cell in each]
