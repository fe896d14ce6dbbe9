"""What the site's build makes beside copies of files.

- `start_files`: what pages start Python from. It runs `start_files.mjs` in Node, and that runs
  `compile_modules.py` and `webtensor_snapshot.py` in Pyodide.
"""
