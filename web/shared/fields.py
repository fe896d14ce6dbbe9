"""What networks think of each place of a square: the places, and what is read at once."""

import webtensor as wt


def grid(side: int, reach: float) -> wt.Tensor:
    """Return points (side², 2) that fill the square from -reach to reach, from the top."""
    margin = reach / side
    steps = wt.linspace(-reach + margin, reach - margin, side)
    columns, rows = wt.meshgrid(steps, wt.flip(steps))
    return wt.stack([wt.reshape(columns, (-1,)), wt.reshape(rows, (-1,))], axis=1)


def flat(*tensors: wt.Tensor) -> wt.Tensor:
    """Return the elements of all tensors as one vector, which is read at once."""
    return wt.concat([wt.reshape(tensor, (-1,)) for tensor in tensors], axis=0)
