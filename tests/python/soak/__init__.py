"""A stateful query that goes through restarts, kills and sinks, and what it must leave behind."""

ANSWER = "answer: "
"""What a line begins with by which a driver answers."""
