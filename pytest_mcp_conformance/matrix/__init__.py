"""Real client wrappers, each installed and judged by itself, and what came out of all of them on one page."""
