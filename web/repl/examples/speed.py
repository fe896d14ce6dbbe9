"""Compare backends: how long does each multiply two matrices?"""

from time import perf_counter

import webtensor as wt

SIZE, REPEATS = 512, 5


async def seconds_per_product(backend):
    wt.set_backend(backend)
    await wt.ready()
    a, b = wt.random_uniform((SIZE, SIZE)), wt.random_uniform((SIZE, SIZE))
    await wt.sum(a @ b).data()  # the first run also compiles
    began = perf_counter()
    for _ in range(REPEATS):
        product = a @ b
    await wt.sum(product).data()
    return (perf_counter() - began) / REPEATS


chosen = wt.get_backend()
try:
    for backend in wt.available_backends():
        seconds = await seconds_per_product(backend)
        speed = 2 * SIZE**3 / seconds / 1e9
        print(f"{backend:6}  {seconds * 1000:7.1f} ms  {speed:6.1f} billion operations a second")
finally:
    wt.set_backend(chosen)
