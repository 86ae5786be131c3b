"""router_models."""
