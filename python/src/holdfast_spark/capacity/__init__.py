"""How much memory and disk the state of a query takes."""
