import micropip

await micropip.install("webtensor")
import webtensor as wt

x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
print(await (x @ x).array(), "on", wt.get_backend())
