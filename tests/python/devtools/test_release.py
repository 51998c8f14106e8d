"""What `./dev release` checks, and what it refuses to publish."""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from devtools.release.maven import artifact_problems, pom_lacks, pom_place_problems
from devtools.release.publishing import changelog_date, hindrances, repository_url
from devtools.release.python_package import metadata_problems, sdist_problems
from devtools.workshop import Workshop
from harness import ROOT
from holdfast_spark import __version__

MODULE = "holdfast-spark_4.2_2.13"
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <groupId>io.holdfast</groupId> <artifactId>{MODULE}</artifactId> <version>1.0.0</version>
  <name>Holdfast</name> <description>A state store</description>
  <licenses><license><name>Apache-2.0</name><url>somewhere</url></license></licenses>
  <developers><developer><name>Holdfast authors</name></developer></developers>
</project>
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that has nothing of what publishing needs."""
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 1.0.0\n\nAll.\n")
    return tmp_path


@pytest.fixture
def maven(tmp_path: Path) -> Path:
    """A repository with all that a release has of one artifact."""
    folder = tmp_path / "io" / "holdfast" / MODULE / "1.0.0"
    folder.mkdir(parents=True)
    files = {"": "holdfast.properties", "-sources": "HoldfastPlugin.scala"}
    for mark, content in {**files, "-javadoc": None}.items():
        with ZipFile(folder / f"{MODULE}-1.0.0{mark}.jar", "w") as jar:
            jar.writestr(f"io/holdfast/{content}" if content else "index.html", "")
            jar.writestr("META-INF/LICENSE", "")
    (folder / f"{MODULE}-1.0.0.pom").write_text(POM)
    for path in list(folder.iterdir()):
        for kind in ("md5", "sha1"):
            digest = hashlib.new(kind, path.read_bytes()).hexdigest()
            path.with_name(f"{path.name}.{kind}").write_text(digest)
    return tmp_path


def test_the_version_is_stated_once() -> None:
    assert Workshop(ROOT).version == __version__
    # sbt reads it from the same file, and the build states none.
    assert (
        "python/src/holdfast_spark/_version.py"
        in (ROOT / "project" / "ProjectVersion.scala").read_text()
    )
    for name in ("build.sbt", "python/pyproject.toml"):
        assert __version__ not in (ROOT / name).read_text()
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def test_the_licence_of_the_package_is_a_file_of_its_own() -> None:
    licence = ROOT / "python" / "LICENSE"
    assert not licence.is_symlink()
    assert licence.read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_description_of_the_package_has_no_link_that_leads_nowhere() -> None:
    assert (
        list(metadata_problems(Path("README"), (ROOT / "python" / "README.md").read_text())) == []
    )


def test_what_nobody_but_developers_needs_is_no_extra() -> None:
    extras = (ROOT / "python" / "pyproject.toml").read_text().partition("optional-dependencies]")[2]
    offered = re.findall(r"^(\w+) = \[", extras.partition("\n[")[0], re.MULTILINE)
    assert offered == ["spark", "demo", "report"]


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ("Name: x\n\nSee [this](../docs/x.md).\n", "a link to ../docs/x.md"),
        ("Name: x\n\n![plot](plot.svg)\n", "a link to plot.svg"),
        ("Name: x\nProvides-Extra: test\n\ntext\n", "the extra test"),
    ],
)
def test_metadata_that_an_index_would_show_wrong_is_told(metadata: str, sentence: str) -> None:
    (problem,) = metadata_problems(Path("x.whl"), metadata)
    assert sentence in problem


def test_metadata_with_addresses_and_places_on_the_page_are_right() -> None:
    text = "Name: x\nProvides-Extra: spark\n\n[a](https://a.org/b) and [c](#c)\n"
    assert list(metadata_problems(Path("x"), text)) == []


def test_an_sdist_with_a_link_or_without_jars_is_told(tmp_path: Path) -> None:
    sdist = tmp_path / "x-1.0.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        link = tarfile.TarInfo("x-1.0/LICENSE")
        link.type, link.linkname = tarfile.SYMTYPE, "../LICENSE"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("x-1.0/src/jars/old.jar"), io.BytesIO())
        archive.addfile(tarfile.TarInfo("x-1.0/.gitignore"), io.BytesIO())
        archive.addfile(tarfile.TarInfo("x-1.0/tests/.cache/x.py"), io.BytesIO())
    assert list(sdist_problems(sdist, jars=["new.jar"], licence=b"text")) == [
        "x-1.0.tar.gz lacks new.jar",
        "x-1.0.tar.gz has old.jar, which is none of this version",
        "x-1.0.tar.gz has x-1.0/LICENSE, which is no file of its own",
        "x-1.0.tar.gz has x-1.0/.gitignore, which is for the repository alone",
        "x-1.0.tar.gz has x-1.0/tests/.cache/x.py, which is for the repository alone",
        "x-1.0.tar.gz does not have the licence",
    ]


def test_artifacts_that_are_whole_are_in_order(maven: Path) -> None:
    assert list(artifact_problems(maven, [MODULE], "1.0.0")) == []


def test_what_artifacts_lack_is_told(maven: Path) -> None:
    folder = maven / "io" / "holdfast" / MODULE / "1.0.0"
    (folder / f"{MODULE}-1.0.0-javadoc.jar").unlink()
    with ZipFile(folder / f"{MODULE}-1.0.0-sources.jar", "w") as jar:
        jar.writestr("META-INF/LICENSE", "")
    (folder / f"{MODULE}-1.0.0.pom").write_text(POM.replace("1.0.0", "2.0.0"))
    (folder.parents[1] / "core").mkdir()
    sources, pom = f"{MODULE}-1.0.0-sources.jar", f"{MODULE}-1.0.0.pom"
    assert list(artifact_problems(maven, [MODULE, "other"], "1.0.0"))[:9] == [
        "core was published, and is no artifact of a Spark line",
        f"{sources} has no io/holdfast/HoldfastPlugin.scala",
        f"{MODULE}-1.0.0-javadoc.jar is missing",
        f"{pom} has the version 2.0.0 and not 1.0.0",
        f"{sources}.md5 is missing or not that of {sources}",
        f"{sources}.sha1 is missing or not that of {sources}",
        f"{pom}.md5 is missing or not that of {pom}",
        f"{pom}.sha1 is missing or not that of {pom}",
        "other-1.0.0.jar is missing",
    ]


@pytest.mark.parametrize("element", ["name", "description", "licenses", "developers"])
def test_a_pom_that_maven_central_refuses_is_told(element: str) -> None:
    assert pom_lacks(POM) == []
    without = re.sub(rf"<{element}>.*?</{element}>", "", POM, count=1)
    assert any(path.startswith(element) for path in pom_lacks(without))


def test_a_pom_says_where_the_sources_are_once_that_is_known() -> None:
    assert list(pom_place_problems("x.pom", POM, None)) == []
    assert list(pom_place_problems("x.pom", POM, "https://a.org/b")) == [
        "x.pom has url None and not https://a.org/b",
        "x.pom has scm/url None and not https://a.org/b",
        "x.pom has scm/connection None and not scm:git:https://a.org/b.git",
    ]
    place = (
        "<url>https://a.org/b</url><scm><url>https://a.org/b</url>"
        "<connection>scm:git:https://a.org/b.git</connection></scm></project>"
    )
    with_place = POM.replace("</project>", place)
    assert list(pom_place_problems("x.pom", with_place, "https://a.org/b")) == []
    assert len(list(pom_place_problems("x.pom", with_place, "https://a.org/c"))) == 3
    assert len(list(pom_place_problems("x.pom", with_place, None))) == 3


def test_what_stands_in_the_way_of_publishing_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("GNUPGHOME", str(root))
    said = list(hindrances(root, "1.0.0", {}))
    starts = ["python/pyproject.toml does not say", "CHANGELOG.md has no date for 1.0.0"]
    starts += ["The commit has no tag v1.0.0", "There is no key to sign with"]
    starts += ["SONATYPE_USERNAME is not", "SONATYPE_PASSWORD is not", "TWINE_PASSWORD is not"]
    assert [next(s for s in said if s.startswith(start)) for start in starts] == said


def test_what_has_been_done_does_not_stand_in_the_way(root: Path) -> None:
    pyproject, changelog = root / "python" / "pyproject.toml", root / "CHANGELOG.md"
    pyproject.write_text('[project.urls]\nRepository = "https://a.org/b"\n[x]\n')
    changelog.write_text("## 1.1.0 (2030-01-01)\n\n## 1.0.0 (2029-12-31)\n")
    assert repository_url(root) == "https://a.org/b"
    assert changelog_date(root, "1.0.0") == "2029-12-31"
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=root, check=True)
    assert any("not committed" in each for each in hindrances(root, "1.0.0", {}))
    who = ("-c", "user.name=x", "-c", "user.email=x")
    subprocess.run(["git", *who, "commit", "-qm", "all"], cwd=root, check=True)
    subprocess.run(["git", "tag", "v1.0.0"], cwd=root, check=True)
    secrets = dict.fromkeys(("SONATYPE_USERNAME", "SONATYPE_PASSWORD", "TWINE_PASSWORD"), "x")
    left = list(hindrances(root, "1.0.0", secrets))
    assert [each for each in left if "key to sign with" not in each] == []


def test_the_address_is_set_in_its_table_alone(root: Path) -> None:
    pyproject = root / "python" / "pyproject.toml"
    pyproject.write_text('[project.urls]\nDocs = "https://a.org"\n[x]\nRepository = "https://b"\n')
    assert repository_url(root) is None
