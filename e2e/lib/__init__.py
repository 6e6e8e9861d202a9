"""Shared by the end-to-end suites: a server, a cache folder, tool set-up. Standard library only."""
