"""What the site's build makes beside copies of files.

- `start_files`: what pages start Python from. It runs `start_files.mjs` in Node, which runs
  `compile_modules.py` and `webtensor_snapshot.py` in Pyodide.
- `pages`: pages within their templates, with links by which browsers fetch that at once.
- `service_worker`: the script that keeps it for the next visit.
"""
