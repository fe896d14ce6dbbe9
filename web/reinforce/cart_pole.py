"""A cart with a pole on it, as tensors of many at once.

The equations are those of Barto, Sutton and Anderson, "Neuronlike adaptive elements that can solve
difficult learning control problems" (1983), without friction. A state is the cart's position (m),
its velocity, the pole's angle from the vertical (radians), and its angular velocity.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import webtensor as wt

GRAVITY = 9.8  # m/s²
CART_MASS, POLE_MASS = 1.0, 0.1  # kg
HALF_LENGTH = 0.5  # m, from the joint to the middle of the pole
FORCE = 10.0  # N, of each push to the left or to the right
SECONDS = 0.02  # between two pushes
STEPS = 200  # the longest episode

#: An episode ends where the cart leaves the track, or the pole leans further.
TRACK, LEAN = 2.4, math.radians(12)

#: From states (…, 4) to the probability of a push to the right (…).
Policy = Callable[[wt.Tensor], wt.Tensor]


class Episodes(NamedTuple):
    """What happened in episodes of many carts; the first axis is time."""

    states: wt.Tensor
    rightwards: wt.Tensor
    #: 1.0 where the episode goes on.
    alive: wt.Tensor

    @property
    def lengths(self) -> wt.Tensor:
        """The number of steps until the end of each episode."""
        return wt.sum(self.alive, 0)


def step(states: wt.Tensor, force: wt.Tensor, seconds: float = SECONDS) -> wt.Tensor:
    """Return the states (…, 4) after a time during which a force (…) acts on the carts."""
    velocity, angle, spin = (states[..., index] for index in (1, 2, 3))
    sine, cosine = wt.sin(angle), wt.cos(angle)
    mass = CART_MASS + POLE_MASS
    push = (force + POLE_MASS * HALF_LENGTH * spin * spin * sine) / mass
    inertia = HALF_LENGTH * (4 / 3 - POLE_MASS * cosine * cosine / mass)
    angular = (GRAVITY * sine - cosine * push) / inertia
    acceleration = push - POLE_MASS * HALF_LENGTH * angular * cosine / mass
    changes = wt.stack([velocity, acceleration, spin, angular], -1)
    return states + seconds * changes


def is_up(states: wt.Tensor) -> wt.Tensor:
    """Return 1.0 where the pole stands and the cart is on the track, else 0.0."""
    on_track = wt.abs(states[..., 0]) < TRACK
    stands = wt.abs(states[..., 2]) < LEAN
    return wt.astype(wt.logical_and(on_track, stands), "float32")


def play(policy: Policy, carts: tuple[int, ...], seed: int, steps: int = STEPS) -> Episodes:
    """Play an episode with each of the carts, which all begin nearly upright."""
    states = wt.random_uniform((*carts, 4), -0.05, 0.05, seed=seed)
    chances = wt.random_uniform((steps, *carts), seed=seed + 1)
    alive = wt.ones(carts)

    @wt.function
    def advance(states: wt.Tensor, alive: wt.Tensor, chance: wt.Tensor) -> tuple[wt.Tensor, ...]:
        rightward = wt.astype(chance < policy(states), "float32")
        following = step(states, FORCE * (2 * rightward - 1))
        return following, rightward, alive * is_up(following)

    history = []
    for chance in chances:
        following, rightward, still = advance(states, alive, chance)
        history.append((states, rightward, alive))
        states, alive = following, still
    return Episodes(*(wt.stack(part) for part in zip(*history, strict=True)))
