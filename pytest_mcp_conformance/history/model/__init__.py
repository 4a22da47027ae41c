"""What may be served, called and left open, as far as a history shows it."""
