"""What `verify` asks of a checkpoint: one question a module, over one model (`subject`)."""
