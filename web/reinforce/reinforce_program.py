"""Two ways to learn to balance a pole: policy gradients and evolution, in turns, in a worker."""

from cart_pole import STEPS, play
from worker_session import report

import webtensor as wt
from webtensor import keras

CARTS = 16  # that learn from each other by policy gradients
POPULATION, PARENTS, TRIALS = 16, 4, 2  # networks that evolve, and episodes of each
HIDDEN = 16  # neurons of a network
TURNS = 40

keras.utils.set_random_seed(1)
policy = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(HIDDEN, "tanh"), keras.layers.Dense(1)]
)
optimizer = keras.optimizers.Adam(0.03)


def reinforce(turn):
    """Make the pushes likelier after which the pole stayed up for long (Williams 1992)."""
    episodes = play(lambda states: wt.sigmoid(policy(states))[:, 0], (CARTS,), seed=turn)
    ahead = episodes.lengths - wt.reshape(wt.arange(STEPS, dtype="float32"), (-1, 1))
    returns = (1 - 0.98**ahead) / 0.02  # later steps count less
    count = wt.sum(episodes.alive)
    mean = wt.sum(returns * episodes.alive) / count
    spread = wt.sqrt(wt.sum((returns - mean) ** 2 * episodes.alive) / count) + 1e-6
    advantages = (returns - mean) / spread * episodes.alive
    with wt.GradientTape() as tape:
        logits = policy(wt.reshape(episodes.states, (-1, 4)))
        signs = wt.reshape(2 * episodes.rightwards - 1, (-1, 1))
        unlikelihood = wt.softplus(-signs * logits)
        loss = wt.sum(unlikelihood * wt.reshape(advantages, (-1, 1))) / count
    variables = policy.trainable_variables
    optimizer.apply(tape.gradient(loss, variables), variables)
    return episodes


def evolve(turn, genes):
    """Let the best networks have children, which differ a little."""
    first, second = wt.split(genes, [4 * HIDDEN, HIDDEN], 1)
    first, second = wt.reshape(first, (-1, 4, HIDDEN)), wt.reshape(second, (-1, HIDDEN, 1))

    def choose(states):
        logits = wt.matmul(wt.tanh(wt.matmul(states, first)), second)
        return wt.astype(logits[..., 0] > 0, "float32")

    episodes = play(choose, (POPULATION, TRIALS), seed=turn)
    _, best = wt.topk(wt.mean(episodes.lengths, 1), PARENTS)
    parents = wt.tile(wt.gather(genes, best), (POPULATION // PARENTS, 1))
    mutations = wt.random_normal(genes.shape, stddev=0.3, seed=turn)
    return episodes, parents + mutations


genes = wt.random_normal((POPULATION, 5 * HIDDEN), seed=1)
for turn in range(TURNS):
    episodes = reinforce(turn)
    report(way="gradients", states=episodes.states[:, 0], lengths=episodes.lengths)
    episodes, genes = evolve(turn, genes)
    lengths = wt.reshape(episodes.lengths, (-1,))
    report(way="evolution", states=episodes.states[:, 0, 0], lengths=lengths)
