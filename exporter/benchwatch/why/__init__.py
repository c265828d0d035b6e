"""Why a benchmark is slow: when, in which layer, by how many milliseconds, and the sentence that says so.

Never a rule of PromQL, a plot or a page: other rooms show what this one finds. Nothing here is known twice elsewhere.
"""
