"""The cart and its pole against Lagrange's equations, the conservation of energy, and itself."""

import math
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import webtensor as wt

PAGE = Path(__file__).resolve().parent.parent / "web" / "reinforce"


@pytest.fixture
def cart_pole(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The page's module, which is forgotten after the test."""
    monkeypatch.syspath_prepend(PAGE)
    import cart_pole

    yield cart_pole
    del sys.modules["cart_pole"]


def test_a_step_computed_by_hand(cart_pole: ModuleType):
    """From rest and upright: 10 N push 1.1 kg, and the pole's joint runs away from under it.

    The pole turns by (-10 / 1.1) / (0.5 * (4 / 3 - 0.1 / 1.1)) = -14.634 rad/s², and the cart gains
    10 / 1.1 + 0.1 * 0.5 * 14.634 / 1.1 = 9.756 m/s².
    """
    following = cart_pole.step(wt.zeros((1, 4)), wt.tensor([10.0])).numpy()
    assert following == pytest.approx(np.array([[0, 0.19512, 0, -0.29268]]), abs=1e-5)


def test_accelerations_solve_the_equations_of_lagrange(cart_pole: ModuleType):
    random = np.random.default_rng(1)
    states = random.uniform(-1, 1, (50, 4)).astype(np.float32)
    forces = random.uniform(-10, 10, 50).astype(np.float32)
    seconds = 0.01
    changes = (
        cart_pole.step(wt.tensor(states), wt.tensor(forces), seconds).numpy() - states
    ) / seconds
    cart, pole, half = cart_pole.CART_MASS, cart_pole.POLE_MASS, cart_pole.HALF_LENGTH
    for state, force, change in zip(states.astype(np.float64), forces, changes, strict=True):
        _, velocity, angle, spin = state
        coupling = pole * half * math.cos(angle)
        masses = np.array([[cart + pole, coupling], [coupling, 4 / 3 * pole * half**2]])
        torques = np.array(
            [
                force + pole * half * spin**2 * math.sin(angle),
                pole * cart_pole.GRAVITY * half * math.sin(angle),
            ]
        )
        acceleration, angular = np.linalg.solve(masses, torques)
        assert change == pytest.approx([velocity, acceleration, spin, angular], abs=1e-3)


def energy(cart_pole: ModuleType, state: np.ndarray) -> float:
    """The kinetic energy of the cart and of a rod on it, and the rod's potential energy."""
    _, velocity, angle, spin = state.astype(np.float64)
    cart, pole, half = cart_pole.CART_MASS, cart_pole.POLE_MASS, cart_pole.HALF_LENGTH
    middle = np.array([velocity + half * spin * math.cos(angle), -half * spin * math.sin(angle)])
    turning = pole * (2 * half) ** 2 / 12 * spin**2 / 2
    kinetic = cart * velocity**2 / 2 + pole * middle @ middle / 2 + turning
    return float(kinetic + pole * cart_pole.GRAVITY * half * math.cos(angle))


def test_energy_is_conserved_as_steps_get_short(cart_pole: ModuleType):
    def drift(steps: int) -> float:
        state = wt.tensor([[0.0, 0.3, 0.4, -0.5]])
        start = energy(cart_pole, state.numpy()[0])
        for _ in range(steps):
            state = cart_pole.step(state, wt.zeros((1,)), 1 / steps)
        return abs(energy(cart_pole, state.numpy()[0]) - start)

    coarse, fine = drift(250), drift(1000)
    assert coarse < 0.02
    assert fine == pytest.approx(coarse / 4, rel=0.1)  # the error of Euler's method is linear


def test_an_episode_ends_where_the_pole_leans_or_the_track_ends(cart_pole: ModuleType):
    lean = math.radians(12)
    states = [[0, 9, lean - 0.01, 9], [0, 0, -lean - 0.01, 0], [2.5, 0, 0, 0], [-2.3, 0, 0, 0]]
    assert cart_pole.is_up(wt.tensor(states)).tolist() == [1, 0, 0, 1]


def test_episodes_follow_the_policy(cart_pole: ModuleType):
    episodes = cart_pole.play(lambda states: wt.ones((3, 2)), (3, 2), seed=5, steps=30)
    states, alive = episodes.states.numpy(), episodes.alive.numpy()
    assert states.shape == (30, 3, 2, 4)
    assert np.all(np.abs(states[0]) <= 0.05)
    assert episodes.rightwards.numpy().min() == 1
    push = wt.full((3, 2), cart_pole.FORCE)
    for now, following in pairwise(states):
        expected = cart_pole.step(wt.tensor(now), push).numpy()
        assert following == pytest.approx(expected, abs=1e-5)
    leaning = (np.abs(states[..., 2]) < cart_pole.LEAN).astype(float)
    assert np.all(alive == np.minimum.accumulate(leaning, 0))
    # Carts that are always pushed to one side let the pole fall in about 10 steps.
    assert episodes.lengths.numpy() == pytest.approx(alive.sum(0))
    assert 7 <= alive.sum(0).min() <= alive.sum(0).max() <= 12


def test_a_policy_of_chances_pushes_as_often(cart_pole: ModuleType):
    episodes = cart_pole.play(lambda states: wt.full((500,), 0.7), (500,), seed=3, steps=20)
    assert episodes.rightwards.numpy().mean() == pytest.approx(0.7, abs=0.02)
    again = cart_pole.play(lambda states: wt.full((500,), 0.7), (500,), seed=3, steps=20)
    assert np.all(again.states.numpy() == episodes.states.numpy())


def test_a_policy_that_pushes_under_the_pole_keeps_it_up(cart_pole: ModuleType):
    def under_the_pole(states: wt.Tensor) -> wt.Tensor:
        lean = states[..., 2] + 0.3 * states[..., 3] + 0.1 * states[..., 1] + 0.05 * states[..., 0]
        return wt.astype(lean > 0, "float32")

    episodes = cart_pole.play(under_the_pole, (20,), seed=1)
    assert np.all(episodes.lengths.numpy() == cart_pole.STEPS)
