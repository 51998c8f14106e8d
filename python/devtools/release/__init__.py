"""`./dev release`: makes and checks what is published, and publishes it."""
