"""Settings that switch Holdfast on, and contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holdfast_spark._artifacts import artifact_of
from holdfast_spark._class_paths import class_path, has_pattern
from holdfast_spark._launch_settings import SUBMIT_ARGUMENTS
from holdfast_spark._setting_names import (
    DRIVER_CLASS_PATH,
    EXECUTOR_CLASS_PATH,
    EXTENSIONS,
    FILE_MANAGER,
    FILE_MANAGER_CLASS,
    JARS,
    PLUGINS,
    PROVIDER,
    PROVIDER_CLASS,
    REAL_TIME_MODE,
    START_SETTINGS,
    appended,
    is_real_time,
    names,
)
from holdfast_spark._version import __version__
from holdfast_spark.doctor.diagnosis import Finding, stop, warning
from holdfast_spark.errors import ProviderInRealTimeModeError

_CLASSES: Mapping[str, str] = {
    PROVIDER: PROVIDER_CLASS,
    **START_SETTINGS,
    FILE_MANAGER: FILE_MANAGER_CLASS,
}
_SETTINGS: Mapping[str, str] = {name: setting for setting, name in _CLASSES.items()}
_LOST: Mapping[str, str] = {
    PLUGINS: "nothing looks at the start of Spark whether the jar fits",
    EXTENSIONS: "batches look for expired rows in all of their state, and a query that needs what "
    "Holdfast does not support fails in its first batch and not when it starts",
}
_OURS = "io.holdfast."
_CONFIGURED = "that holdfast.configure has not prepared"


def uses_holdfast(settings: Mapping[str, str]) -> bool:
    """Tell whether new queries keep their state in Holdfast."""
    return settings.get(PROVIDER) == PROVIDER_CLASS or (
        PROVIDER not in settings and is_real_time(settings)
    )


def switch_findings(settings: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what contradicts itself in the settings that name classes of Holdfast."""
    named = _named(settings)
    for setting, found in named.items():
        for name in found:
            if name != _CLASSES[setting]:
                yield stop(
                    "settings",
                    f"{setting} names {name}, and Holdfast has no such class for it: write "
                    f"{_CLASSES[setting]}.",
                )
    yield from _misnamed(settings)
    started = [setting for setting in START_SETTINGS if setting in named]
    provider = settings.get(PROVIDER)
    if is_real_time(settings) and provider:
        # In the words of `configure`, which asks for real-time mode where the setting does.
        yield stop("settings", str(ProviderInRealTimeModeError(setting=PROVIDER, found=provider)))
    elif started and not provider and not is_real_time(settings):
        yield warning(
            "settings",
            f"{_listed(started)} {_name(started)} Holdfast and {PROVIDER} is not set: queries of "
            f"sessions {_CONFIGURED} keep their state in Spark's default provider. Set it to "
            f"{PROVIDER_CLASS}.",
        )
    elif started and provider and not provider.startswith(_OURS):
        yield warning(
            "settings",
            f"{_listed(started)} {_name(started)} Holdfast and {PROVIDER} is {provider}: queries "
            f"of sessions {_CONFIGURED} keep their state there. Set it to {PROVIDER_CLASS}, unless "
            "that is wanted.",
        )
    if uses_holdfast(settings):
        for setting, ours in START_SETTINGS.items():
            if setting in named:
                continue
            if setting == EXTENSIONS and is_real_time(settings):
                yield stop(
                    "settings",
                    f"{REAL_TIME_MODE} is true and {setting} does not name {ours}, which gives "
                    "Holdfast to new queries: they keep their state elsewhere. Add it there.",
                )
            else:
                switch = REAL_TIME_MODE if is_real_time(settings) else PROVIDER
                yield warning(
                    "settings",
                    f"{switch} is Holdfast's and {setting} does not name {ours}: "
                    f"{_LOST[setting]}. Add it to the setting.",
                )


def _misnamed(settings: Mapping[str, str]) -> Iterator[Finding]:
    """Yield settings that Spark does not know, which the user takes for those that it does."""
    for setting, value in settings.items():
        for name in names(value):
            if name in _SETTINGS and setting not in _CLASSES:
                yield warning(
                    "settings",
                    f"{setting} names {name}, and is no setting of Spark's that would switch it "
                    f"on: write {_SETTINGS[name]}, with just these letters.",
                )


def place_findings(
    in_files: Mapping[str, Mapping[str, str]], settings: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield where a file of settings and what wins over it name providers that are not the same.

    Args:
        in_files: what each file sets.
        settings: what holds in the end.
    """
    last = settings.get(PROVIDER)
    for file, in_file in in_files.items():
        first = in_file.get(PROVIDER)
        if first and last and first != last and PROVIDER_CLASS in (first, last):
            yield warning(
                "settings",
                f"{file} sets {PROVIDER} to {first}, and PYSPARK_SUBMIT_ARGS sets it to {last}, "
                "which wins here: sessions that are started in another way keep their state "
                "elsewhere. Say the same in both.",
            )


def jar_findings(
    settings: Mapping[str, str],
    jars: Sequence[str],
    *,
    own: str | None,
    in_cluster: bool,
    jars_in_submit: bool,
) -> Iterator[Finding]:
    """Yield what is wrong with the jars of Holdfast that a session would have.

    Args:
        settings: what is set.
        jars: the jars, by path, URL or coordinates.
        own: the package's jar, None where it has none that fits.
        in_cluster: the session has executors.
        jars_in_submit: PYSPARK_SUBMIT_ARGS sets jars.
    """
    asked = list(_named(settings))
    if asked and not jars:
        fatal = asked != [EXTENSIONS]
        then = "fail" if fatal else "go on without Holdfast"
        yield (stop if fatal else warning)(
            "jar",
            f"{_listed(asked)} {_name(asked)} Holdfast and nothing brings its jar: sessions "
            f"{_CONFIGURED} {then}. "
            f"{_adding(settings, own or 'the jar of the Spark line', in_submit=jars_in_submit)}, "
            "or take these settings out and call holdfast.configure.",
        )
    for jar in jars:
        artifact = artifact_of(jar)
        if artifact and artifact.version not in (None, __version__):
            yield warning(
                "jar",
                f"{jar} is Holdfast {artifact.version} and this package is {__version__}: "
                "use the same version of both.",
            )
    for_driver = class_path(settings.get(DRIVER_CLASS_PATH))
    # What is behind a pattern that fits nothing here, the machines of the executors know.
    theirs = any(
        artifact_of(entry) or has_pattern(entry)
        for entry in class_path(settings.get(EXECUTOR_CLASS_PATH))
    )
    if in_cluster and jars and set(jars) <= set(for_driver) and not theirs:
        yield stop(
            "jar",
            f"{DRIVER_CLASS_PATH} brings {jars[0]} to the driver alone, and the executors "
            f"have no jar of Holdfast: name it in {JARS} instead, which is for both.",
        )


def _adding(settings: Mapping[str, str], jar: str, *, in_submit: bool) -> str:
    """Return what to do for a jar to be on the class paths, where it wins over what is there."""
    if not in_submit:
        return f"Set {JARS} to {jar}"
    return (
        f"Set --jars in {SUBMIT_ARGUMENTS} to {appended(settings.get(JARS), jar)}, for what sets "
        f"{JARS} there wins over files of settings and over the builder"
    )


def _named(settings: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the classes of Holdfast that settings name."""
    found = {
        setting: [name for name in names(settings.get(setting)) if name.startswith(_OURS)]
        for setting in _CLASSES
    }
    return {setting: classes for setting, classes in found.items() if classes}


def _listed(settings: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(settings[:-1]), settings[-1])))


def _name(settings: Sequence[str]) -> str:
    return "names" if len(settings) == 1 else "name"
