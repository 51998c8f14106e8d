"""`python -m holdfast_spark` is the command `holdfast`."""

from holdfast_spark.cli.main import main

main(prog_name="holdfast")
