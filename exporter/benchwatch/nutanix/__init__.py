"""Nutanix controller VMs (CVMs): what their storage process (Stargate) reports about itself and its vdisks.

It only sends GET requests, only for three fixed pages, never follows a redirect, and knows nothing about benchmarks.
"""
