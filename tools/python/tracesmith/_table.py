# SPDX-License-Identifier: Apache-2.0
"""Tables: the rows of one type, as columns without a copy.

A column's memory belongs to libtracesmith, is constant, and lives as long as a column, a memoryview or an array of NumPy refers to it,
also when the trace is closed.
"""
from __future__ import annotations

import collections
import ctypes
import fnmatch
import keyword
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _library
from ._errors import TraceError

BY_DEVICE, BY_CONTEXT, BY_STREAM, BY_THREAD = 1, 2, 4, 8
Time = Union[int, float]


class _Columns:
    """A struct ts_sbt_columns; frees it with the last reference."""

    def __init__(self, pointer: Any) -> None:
        lib = _library.library()
        self.pointer = pointer
        self.n_rows: int = lib.ts_sbt_columns_rows(pointer)
        self._free = lib.ts_sbt_columns_free

    def __del__(self) -> None:
        self._free(self.pointer)

    def view(self, address: Optional[int], width: int, form: str) -> memoryview:
        """The array at an address, which keeps these columns alive."""
        if not self.n_rows or not address:
            empty = memoryview(b'')
            return empty if form.endswith('s') else empty.cast(form)
        array = (ctypes.c_ubyte * (self.n_rows * width)).from_address(address)
        array._owner = self  # type: ignore[attr-defined]
        flat = memoryview(array).cast('B').toreadonly()
        return flat.cast('B', (self.n_rows, width)) if form.endswith('s') else flat.cast(form)


class Column:
    """The values of a column: a sequence of numbers.

    `data` is a memoryview, and numpy.asarray(column) an array, both without a copy. Names are numbers; `text(i)` and `texts()` give the
    texts. Columns of bytes (a UUID, a build id) have `bytes` as values.
    """

    def __init__(self, table: 'Table', field: _library.Field, columns: _Columns, address: Optional[int]) -> None:
        self._table = table
        self._field = field
        # NumPy's arrays hold this object, so it holds the memory by itself, also if somebody releases `data`.
        self._columns = columns
        self._address = address
        self.data = columns.view(address, field.width, field.format)

    @property
    def name(self) -> str:
        return self._field.name

    @property
    def is_text(self) -> bool:
        """Whether the values are numbers of texts: ids of strings, or calls."""
        return self._field.is_text

    def text(self, index: int) -> str:
        """The text of one value."""
        return self._of(self.data[index])

    def _of(self, number: int) -> str:
        """The text of a value."""
        if self._field.role == _library.CALL:
            return _library.call_name(number)
        return str(self._table.trace.string(number))

    def texts(self) -> List[str]:
        """The text of each value."""
        known = {number: self._of(number) for number in set(self.data)}
        return [known[number] for number in self.data]

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: Any) -> Any:
        if self.data.ndim == 1:
            return self.data[index]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.data.cast('B')[range(len(self))[index] * self._field.width:][:self._field.width].tobytes()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data) if self.data.ndim == 1 else (self[i] for i in range(len(self)))

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        field = self._field
        kind = 'f' if field.role == _library.DOUBLE else 'i' if field.is_signed else 'u'
        shape: Tuple[int, ...] = (len(self),)
        typestr = '<%s%d' % (kind, field.width)
        if field.role == _library.OCTETS:
            shape, typestr = (len(self), field.width), '|u1'
        if not shape[0]:
            return {'version': 3, 'shape': shape, 'typestr': typestr, 'data': b''}
        return {'version': 3, 'shape': shape, 'typestr': typestr, 'data': (self._address, True)}

    def __repr__(self) -> str:
        shown = ', '.join(repr(self[i]) for i in range(min(5, len(self))))
        return '<Column %s: %d values: %s%s>' % (self.name, len(self), shown, ', ...' if len(self) > 5 else '')


class Table:
    """The rows of one type.

    table['start_ns'] is a column; iteration gives rows; len(table) counts them. `where()` selects rows, `select()` columns. DuckDB,
    Polars and pandas read a table by `__arrow_c_stream__`. Times are nanoseconds of CLOCK_MONOTONIC. Rows of a block are in order of
    time, but the blocks of different threads overlap.
    """

    def __init__(self, trace: Any, name: str, selection: Optional[Dict[str, Any]] = None,
                 columns: Optional[Sequence[str]] = None) -> None:
        self.trace = trace
        self._schema = _library.schema(name)
        self._selection = selection or {}
        by_name = {field.name: field for field in self._schema.fields}
        for column in columns or ():
            if column not in by_name:
                raise TraceError('rows of type %s have no column %r; they have %s' % (name, column, ', '.join(by_name)))
        self._fields = {column: by_name[column] for column in (columns or by_name)}
        self._loaded: Dict[str, Column] = {}
        self._sessions: Optional[memoryview] = None
        self._n_rows: Optional[int] = None
        # Threads that share a table read each column once. This lock is taken before the trace's.
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """The type of the rows: "kernel", "memcpy", ..."""
        return self._schema.name

    @property
    def columns(self) -> List[str]:
        return list(self._fields)

    def select(self, *columns: str) -> 'Table':
        """The same rows with these columns alone, which are read faster."""
        return Table(self.trace, self.name, self._selection, columns)

    def where(self, *, start: Optional[Time] = None, end: Optional[Time] = None, name: Optional[str] = None,
              session: Optional[int] = None, device: Optional[int] = None, context: Optional[int] = None,
              stream: Optional[int] = None, thread: Optional[int] = None) -> 'Table':
        """The rows that match all of these.

        start, end: rows that touch this window. A float is seconds since the trace's start, an int is nanoseconds of CLOCK_MONOTONIC.
        name: the name of a kernel, call or range; `*` and `?` match as in file names. The others are ids.
        """
        selection = dict(self._selection)
        wanted = {'start': start, 'end': end, 'name': name, 'session': session, 'device': device, 'context': context,
                  'stream': stream, 'thread': thread}
        selection.update({key: value for key, value in wanted.items() if value is not None})
        return Table(self.trace, self.name, selection, list(self._fields))

    # ---- reading ----

    def _options(self, columns: Sequence[_library.Field]) -> _library.ColumnsOptions:
        chosen = self._selection
        options = _library.ColumnsOptions(type=self._schema.type, session=chosen.get('session', 0))
        for field in columns:
            options.columns |= 1 << field.place
        for key in ('session', 'device', 'context', 'stream', 'thread'):
            if not (key == 'session') <= chosen.get(key, 1) < 2**32:
                raise TraceError('%s=%r: no such %s' % (key, chosen[key], key))
        if 'start' in chosen:
            options.from_ns = min(max(self.trace.instant(chosen['start']), 0), 2**64 - 1)
        if 'end' in chosen:
            # 0 would be no limit.
            options.to_ns = min(max(self.trace.instant(chosen['end']), 1), 2**64 - 1)
        for key, bit in (('device', BY_DEVICE), ('context', BY_CONTEXT), ('stream', BY_STREAM), ('thread', BY_THREAD)):
            if key in chosen:
                options.filter |= bit
                setattr(options, key, chosen[key])
        if 'name' in chosen:
            ids = self._find_names(chosen['name'])
            options.names = (ctypes.c_uint32 * max(1, len(ids)))(*ids)
            options.n_names = len(ids)
        return options

    def _find_names(self, pattern: str) -> List[int]:
        """The numbers of the names that match a pattern, ascending."""
        names = Table(self.trace, self.name, columns=['name'])['name']
        pattern = pattern.replace('[', '[[]')
        return sorted(number for number in set(names) if fnmatch.fnmatchcase(names._of(number), pattern))

    def _read(self, fields: Sequence[_library.Field]) -> _Columns:
        return _Columns(self.trace._columns(self._options(fields)))

    def _take(self, columns: _Columns, fields: Sequence[_library.Field]) -> None:
        lib = _library.library()
        self._n_rows = columns.n_rows
        self._sessions = columns.view(lib.ts_sbt_columns_sessions(columns.pointer), 4, 'I')
        for field in fields:
            values = lib.ts_sbt_columns_values(columns.pointer, field.place)
            self._loaded[field.name] = Column(self, field, columns, values)

    def load(self) -> 'Table':
        """Reads all columns at once; returns the table."""
        with self._lock:
            missing = [field for name, field in self._fields.items() if name not in self._loaded]
            if missing:
                self._take(self._read(missing), missing)
        return self

    @property
    def sessions(self) -> memoryview:
        """The session of each row."""
        if self._sessions is None:
            self[next(iter(self._fields))]
        assert self._sessions is not None
        return self._sessions

    def __getitem__(self, column: str) -> Column:
        with self._lock:
            if column not in self._loaded:
                if column not in self._fields:
                    raise KeyError(column)
                field = self._fields[column]
                self._take(self._read([field]), [field])
            return self._loaded[column]

    def __len__(self) -> int:
        if self._n_rows is None:
            self[next(iter(self._fields))]
        assert self._n_rows is not None
        return self._n_rows

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples; strings are text. A name that Python reserves has a `_` behind it: `async_`."""
        self.load()
        # The rows of sessions themselves have the number as a column.
        columns: List[Any] = [] if 'session' in self._fields else [self.sessions]
        names = list(self._fields) if 'session' in self._fields else ['session', *self._fields]
        for name in self._fields:
            column = self._loaded[name]
            columns.append(column.texts() if column.is_text else column)
        row = collections.namedtuple(self.name.title().replace('_', ''), [name + '_' * keyword.iskeyword(name) for name in names])  # type: ignore
        return (row(*values) for values in zip(*columns))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as a stream of Arrow's C interface, without a copy; strings are dictionary-encoded."""
        columns = self._read(list(self._fields.values()))
        return self.trace._arrow_stream(columns)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; columns of strings are categorical."""
        import numpy
        import pandas  # type: ignore[import]
        self.load()
        data: Dict[str, Any] = {} if 'session' in self._fields else {'session': numpy.asarray(self.sessions)}
        for name in self._fields:
            column = self._loaded[name]
            values: Any = numpy.asarray(column)
            if column.is_text:
                ids, codes = numpy.unique(values, return_inverse=True)
                texts, places = numpy.unique([column._of(int(number)) for number in ids], return_inverse=True)
                values = pandas.Categorical.from_codes(places[codes] if len(ids) else codes, texts)
            elif values.ndim > 1:
                values = [bytes(value) for value in values]
            data[name] = values
        return pandas.DataFrame(data)

    def __repr__(self) -> str:
        return '<Table %s: %d rows, columns %s>' % (self.name, len(self), ', '.join(self._fields))
