"""What systems are composed of, besides attention."""
