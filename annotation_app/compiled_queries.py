"""Querysets whose SQL is compiled once per process, for the few statements that many people wait for at once.

Django compiles the SQL of a queryset on every use. For one with subqueries that takes four times as long as the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.db import connection, models

ModelT = TypeVar("ModelT", bound=models.Model)


class CompiledQuery(Generic[ModelT]):
    """A queryset with parameters, compiled at the first run. Threads may share it.

    Args:
        build: Makes the queryset from samples, which stand for the values of a run. It must treat a sample as it would
            treat every value. If the SQL depends on the value, such as on whether it is None, use a separate query.
        samples: A sample for each value. It must differ from the other samples and from all values that `build` itself
            puts into the queryset.
    """

    def __init__(self, build: Callable[..., models.QuerySet[ModelT, Any]], **samples: Any) -> None:
        self._build, self._samples = build, samples
        self._compiled: tuple[type[ModelT], str, tuple[Any, ...]] | None = None

    def instances(self, **values: Any) -> list[ModelT]:
        """The rows as model instances with annotations. Related objects are not loaded."""
        model, sql, parameters = self._bound(values)
        return list(model._default_manager.raw(sql, parameters))

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a queryset of `values_list`, as the database returns them. No field converts them."""
        _model, sql, parameters = self._bound(values)
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found

    def _bound(self, values: Mapping[str, Any]) -> tuple[type[ModelT], str, Sequence[Any]]:
        if values.keys() != self._samples.keys():
            raise TypeError(f"It takes {sorted(self._samples)}, not {sorted(values)}.")
        model, sql, parameters = self._compiled or self._compile()
        return model, sql, [values[each.name] if isinstance(each, _Open) else each for each in parameters]

    def _compile(self) -> tuple[type[ModelT], str, tuple[Any, ...]]:
        queryset = self._build(**self._samples)
        sql, parameters = queryset.query.get_compiler(connection=connection).as_sql()
        opened = tuple(self._opened(each) for each in parameters)
        missing = self._samples.keys() - {each.name for each in opened if isinstance(each, _Open)}
        if missing:
            raise RuntimeError(f"The statement does not have the samples of {sorted(missing)}.")
        self._compiled = queryset.model, sql, opened
        return self._compiled

    def _opened(self, parameter: Any) -> Any:
        """The placeholder for a parameter that is a sample, else the parameter. Fields may wrap numbers in a type of
        the driver."""
        same = (
            name
            for name, sample in self._samples.items()
            if isinstance(parameter, type(sample)) and not isinstance(parameter, bool) and sample == parameter
        )
        name = next(same, None)
        return parameter if name is None else _Open(name)


class _Open:
    """The placeholder of a value."""

    def __init__(self, name: str) -> None:
        self.name = name
