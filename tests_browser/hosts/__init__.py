"""Stand-ins for what pages that run webtensor elsewhere take from the web.

`distribution` is a folder as Pyodide's content delivery network has it. `web` answers a browser's
requests to that network, to npm's and to PyPI. `environments` are virtual environments of Python.
"""
