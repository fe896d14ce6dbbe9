# /// script
# dependencies = ["marimo", "webtensor"]
# ///

import marimo

app = marimo.App()


@app.cell
def _():
    import webtensor as wt

    return (wt,)


@app.cell
async def _(wt):
    x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
    f"{await (x @ x).array()} on {wt.get_backend()}"
    return


if __name__ == "__main__":
    app.run()
