"""Counting the draws that a page's Python sends to WebGL."""

#: Python for a page that has imported webtensor: within `counted_draws() as draws`, each draw adds
#: an item to the list.
COUNTED_DRAWS = """
from contextlib import contextmanager
from pyodide.ffi import create_proxy

@contextmanager
def counted_draws():
    wt.backend().flush()
    gl = wt.backend().gl
    draw_arrays, draws = gl.drawArrays, []

    def count(*arguments):
        draws.append(arguments)
        draw_arrays(*arguments)

    proxy = create_proxy(count)
    gl.drawArrays = proxy
    try:
        yield draws
        wt.backend().flush()
    finally:
        del gl.drawArrays  # the prototype's shows again
        proxy.destroy()
"""
