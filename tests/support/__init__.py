"""What tests of several folders share: waiting, places for files, servers, launchers, real programs.

Tests import from here and from their own folder, never from another folder of tests. Nothing here is a test.
"""
