"""What the end-to-end suites share: a server, a cache folder, tool set-up. Standard library only."""
