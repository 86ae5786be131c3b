"""local_engine."""
