"""Files that models of others are kept in. They are read, never executed."""
