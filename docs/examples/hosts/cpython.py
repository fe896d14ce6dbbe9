import webtensor as wt

for name in wt.registered_backends():
    if wt.unavailable_reason(name) is None:
        wt.set_backend(name)
        x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
        print((x @ x).tolist(), "on", name)
