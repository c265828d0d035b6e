"""What users write in YAML: the configuration file of the exporter, and the records in a run's folder.

It checks a whole file before anything uses it, and never acts on a setting.
"""
