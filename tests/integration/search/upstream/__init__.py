"""Search engines as tests have them: each speaks the real format of its kind, and misbehaves on request (faults.py)."""
