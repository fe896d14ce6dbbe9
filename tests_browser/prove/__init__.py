"""Trials of what a page goes through: long training, lost contexts, killed workers, bad networks.

A trial is a row of its family's table: in which browser, on which backend, and how long it is.
`make prove` runs all, and `make prove ONLY="training graphs"` those whose names begin so;
`test_reliability.py` runs some with lengths of its own. What came of a trial is kept in
`docs/reliability.json`, from which `docs/reliability.md` is written; a trial that held with the
same sources is not run again.
"""
