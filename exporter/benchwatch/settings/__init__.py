"""What users write in YAML: the configuration file of the exporter, and the records in a run's folder.

Everything is checked here before anything acts on it; nothing here acts on a setting.
"""
