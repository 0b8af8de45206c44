"""Querysets whose SQL is made once: the values of each run take the samples' places, and nothing else changes."""

from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from annotation_app.accounts.models import User
from annotation_app.compiled_queries import CompiledQuery
from annotation_app.tasks.models import Pool
from annotation_app.tasks.selectors import pools_assigned_to, pools_with_tasks
from annotation_app.tasks.services import pool_ensure
from tests.integration.web.conftest import World


def named(name: str, steps: int) -> QuerySet[Pool]:
    return Pool.objects.filter(name=name, max_steps=100, lease_minutes__lte=steps).order_by("id")


def query(build: Any = named) -> CompiledQuery[Pool]:
    return CompiledQuery(build, name="a sample", steps=9_999)


class TestRows:
    def test_each_run_has_its_own_values(self, world: World) -> None:
        other = pool_ensure(name="other", members=[])
        compiled = query()
        assert [pool.pk for pool in compiled.instances(name="other", steps=30)] == [other.pk]
        assert [pool.pk for pool in compiled.instances(name=world.pool.name, steps=30)] == [world.pool.pk]
        assert compiled.instances(name="other", steps=29) == []

    def test_they_are_what_the_queryset_gives(self, world: World) -> None:
        compiled = query(lambda name, steps: named(name, steps).values_list("pk", "platform"))
        expected = list(named(world.pool.name, 30).values_list("pk", "platform"))
        assert expected
        assert compiled.rows(name=world.pool.name, steps=30) == expected

    def test_the_queryset_is_made_once(self, world: World) -> None:
        made = []

        def build(name: str, steps: int) -> QuerySet[Pool]:
            made.append(name)
            return named(name, steps)

        compiled = query(build)
        with CaptureQueriesContext(connection) as asked:
            compiled.instances(name=world.pool.name, steps=30)
            compiled.instances(name="other", steps=30)
        assert (made, len(asked)) == (["a sample"], 2)

    def test_a_value_is_data_and_no_sql(self, world: World) -> None:
        assert query().instances(name="' OR 'a' = 'a", steps=30) == []
        assert query().instances(name="%s", steps=30) == []


class TestRefusals:
    def test_other_values_than_its_own(self, world: World) -> None:
        with pytest.raises(TypeError, match=r"name.*steps"):
            query().instances(name="other")

    def test_a_sample_that_the_statement_does_not_have(self, world: World) -> None:
        """The value would change nothing, and the statement would hold for everybody."""
        with pytest.raises(RuntimeError, match="steps"):
            query(lambda name, steps: named(name, 30)).instances(name="other", steps=1)


class TestPoolsOfAPerson:
    @pytest.mark.parametrize("skills", [[], ["forms"], ["forms", "maps"]])
    @pytest.mark.parametrize("one", [True, False])
    def test_they_are_those_assigned_to_them(self, world: World, skills: list[str], one: bool) -> None:
        """Whoever ran the query before."""
        by_skill = pool_ensure(name="by skill", members=[])
        Pool.objects.filter(pk=by_skill.pk).update(skills=["forms"])
        User.objects.filter(pk=world.ada.pk).update(skills=skills)
        for person in (world.ben, User.objects.get(pk=world.ada.pk)):
            expected = pools_assigned_to(person).filter(practice=False).order_by("-priority", "id")
            if one:
                expected = expected.filter(pk=by_skill.pk)
            found = pools_with_tasks(person, pool_id=by_skill.pk if one else None, practice=False)
            assert [pool.pk for pool in found] == [pool.pk for pool in expected]
