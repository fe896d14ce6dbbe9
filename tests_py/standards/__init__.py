"""How far webtensor follows the array API standard, and what SciPy and scikit-learn do with it.

`functions.txt` holds the signatures of the standard's functions, and `special_cases.txt` what they
give for zeros, infinities and NaN. ``python -m tests_py.standards`` writes `docs/standards.md`.
"""
