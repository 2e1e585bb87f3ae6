"""Exercises: functions of the lectures for students to write, held against the library's own."""
