"""A stateful query that goes through restarts, kills and sinks, and what it must leave behind."""
