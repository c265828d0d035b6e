"""Nutanix controller VMs (CVMs): what their storage process (Stargate) reports about itself and its vdisks.

Its client sends GET requests for three fixed pages and never follows a redirect. It knows nothing about benchmarks.
"""
