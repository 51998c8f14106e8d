"""The page about the commands."""

from __future__ import annotations

from harness import ROOT
from holdfast_spark.cli import main as cli
from holdfast_spark.cli.checkpoint_command import CheckpointCommand
from holdfast_spark.cli.reference import reference


def test_the_reference_is_that_of_the_commands() -> None:
    written = (ROOT / "docs" / "commands.md").read_text()
    assert written == reference(), "run python -m holdfast_spark.cli.reference > docs/commands.md"


def test_the_shape_of_every_json_document_is_documented() -> None:
    text = reference()
    for name, command in cli.main.commands.items():
        assert f"## holdfast {name}\n" in text
        if isinstance(command, CheckpointCommand) and command.name != "show":
            assert command.result
