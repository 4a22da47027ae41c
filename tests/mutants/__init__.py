"""Small changes to the reference, each to be caught by the catalogue alone (`tox -e mutants -- pool.py`)."""
