"""Nutanix controller VMs: what their storage process (Stargate) says of itself and of the vdisks on TCP port 2009."""
