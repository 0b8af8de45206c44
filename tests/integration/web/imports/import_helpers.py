"""What tests of imports share: exports to take in again, uploads, archives, and a platform with nothing in it."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.services import export_write_to
from tests.integration.web.conftest import World, world_make


def write(target: Path, name: str = "canonical") -> Path:
    """All that is here, exported."""
    plan = ExportPlan.model_validate({"format": name})
    export_write_to(target=target, pool_name=None, filters=ExportFilters(review=None), plan=plan)
    return target


def empty_platform(data: Path) -> World:
    """Another platform: nothing of this one is in it."""
    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name != "django_migrations"]
        cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
    for path in sorted((data / "blobs").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    return world_make()


def zipped(folder: Path) -> bytes:
    """A folder as a zip file, its files under its name, as people make them."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{folder.name}/{path.relative_to(folder)}")
    return made.getvalue()


def upload(world: World, data: bytes, name: str = "old.zip", **fields: str) -> dict[str, Any]:
    """What Ravi is told of an import that he began, once it is over."""
    client = world.client(world.ravi)
    begun = client.post("/api/imports", {"file": SimpleUploadedFile(name, data), **fields})
    assert begun.status_code == 202, begun.content
    told: dict[str, Any] = client.get(f"/api/imports/{begun.json()['id']}").json()
    return told


def import_errors(world: World, told: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = world.client(world.ravi).get(f"/api/imports/{told['id']}/refused").json()["items"]
    return rows


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def build_archive(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return made.getvalue()
