"""What a run found: verdicts as data, and the forms in which they are shown."""
