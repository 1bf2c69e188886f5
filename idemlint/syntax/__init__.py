"""Source text to plain facts, and back to places in it. No libcst node leaves this folder."""
