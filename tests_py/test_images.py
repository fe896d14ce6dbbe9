"""What the table of cases cannot say about images, normalization, cells and losses."""

import asyncio
from random import Random
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.conftest import counts
from webtensor.geometry import Window, WindowOptions, make_window, trimmed

RANDOM = np.random.default_rng(0)
CORNERS = RANDOM.uniform(0, 3, (30, 2))
BOXES = np.concatenate([CORNERS, CORNERS + RANDOM.uniform(0.3, 2, (30, 2))], 1).astype(np.float32)
SCORES = RANDOM.uniform(0, 1, 30).astype(np.float32)

# -- boxes that overlap --------------------------------------------------------------------------


def test_non_max_suppression_async_chooses_the_same(backend: str, no_leak: None) -> None:
    args = (wt.tensor(BOXES), wt.tensor(SCORES), 10, 0.3, 0.2)
    chosen = asyncio.run(wt.image.non_max_suppression_async(*args))
    assert chosen.tolist() == wt.image.non_max_suppression(*args).tolist()


def test_non_max_suppression_with_score_async_chooses_the_same(backend: str, no_leak: None) -> None:
    args = (wt.tensor(BOXES), wt.tensor(SCORES), 10, 0.6, 0.1, 0.5)
    chosen = asyncio.run(wt.image.non_max_suppression_with_score_async(*args))
    expected = wt.image.non_max_suppression_with_score(*args)
    assert chosen.selected_indices.tolist() == expected.selected_indices.tolist()
    assert chosen.selected_scores.tolist() == expected.selected_scores.tolist()


def test_non_max_suppression_padded_async_chooses_the_same(backend: str, no_leak: None) -> None:
    args = (wt.tensor(BOXES), wt.tensor(SCORES), 10, 0.1, 0.6, True)
    indices, valid = asyncio.run(wt.image.non_max_suppression_padded_async(*args))
    expected = wt.image.non_max_suppression_padded(*args)
    assert indices.tolist() == expected.selected_indices.tolist()
    assert valid.tolist() == expected.valid_outputs.tolist() < len(indices) == 10


def test_boxes_computed_on_the_device(backend: str) -> None:
    boxes, scores = wt.tensor(BOXES) * 2.0, wt.tensor(SCORES) + 0.5
    expected = wt.image.non_max_suppression(BOXES * 2, SCORES + np.float32(0.5), 5)
    assert wt.image.non_max_suppression(boxes, scores, 5).tolist() == expected.tolist()


# -- sampling ------------------------------------------------------------------------------------


def test_a_box_number_out_of_range_on_the_device_gives_the_extrapolation(backend: str) -> None:
    boxes = wt.tensor([[0.0, 0.0, 1.0, 1.0]] * 2)
    numbers = wt.tensor([1, -3]) + wt.tensor([1, 0])
    y = wt.image.crop_and_resize(wt.ones((2, 3, 3, 1)), boxes, numbers, (2, 2), "bilinear", 7.0)
    assert y.flatten().tolist() == [7.0] * 8


def test_one_transform_serves_every_image(backend: str) -> None:
    x = wt.tensor(RANDOM.uniform(0, 1, (3, 4, 5, 2)))
    matrix = wt.tensor([[0.9, 0.1, 0.3, 0.0, 1.1, -0.2, 0.01, 0.0]])
    y = wt.image.transform(x, matrix, "bilinear")
    each = wt.image.transform(x, wt.tile(matrix, (3, 1)), "bilinear")
    assert y.tolist() == each.tolist()


def test_gradients_of_crops_give_their_memory_back(backend: str, no_leak: None) -> None:
    boxes = wt.tensor([[0.1, 0.2, 0.8, 0.7]])

    def crop(image: wt.Tensor, boxes: wt.Tensor) -> wt.Tensor:
        return wt.image.crop_and_resize(image, boxes, [0], (3, 3))

    before = counts()
    for _ in range(3):
        wt.grads(crop)(wt.ones((1, 4, 4, 1)), boxes)
    assert counts() == before


def test_resizing_to_the_same_size_copies_nothing(backend: str) -> None:
    x = wt.ones((1, 3, 4, 2))
    before = wt.memory()["num_storages"]
    kept = wt.image.resize_bilinear(x, (3, 4))
    assert wt.memory()["num_storages"] == before
    assert kept is not x


# -- normalization -------------------------------------------------------------------------------


def test_batch_norm_of_large_means_does_not_cancel(backend: str) -> None:
    x = np.array([[4096.0], [4096.25], [4096.5]], np.float32)
    y = wt.batch_norm(x, [4096.25], [1.0 / 16], variance_epsilon=0.0)
    assert y.flatten().tolist() == [-1.0, 0.0, 1.0]


def test_dropout_keeps_the_expected_share(backend: str, no_leak: None) -> None:
    y = wt.dropout(wt.ones((100, 100)), 0.3, seed=5).numpy()
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.7)}
    assert abs((y == 0).mean() - 0.3) < 0.02
    assert abs(y.mean() - 1) < 0.03


def test_dropout_follows_its_seed(backend: str) -> None:
    x = wt.ones((50,))
    first, again, other = (wt.dropout(x, 0.5, seed=seed).tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_dropout_without_a_seed_follows_the_library_s() -> None:
    results = []
    for _ in range(2):
        wt.set_random_seed(3)
        results.append(wt.dropout(wt.ones((50,)), 0.5).tolist())
    assert results[0] == results[1]


def test_dropout_at_rate_0_keeps_all(backend: str) -> None:
    assert wt.dropout([1.0, 2.0], 0).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("noise_shape", [(20, 1), (None, 1), (1,), (1, 30), (None, None)])
def test_dropout_along_a_noise_shape(backend: str, noise_shape: Any) -> None:
    y = wt.dropout(wt.ones((20, 30)), 0.5, noise_shape, seed=1).numpy()
    rows_alike = (y == y[:, :1]).all()
    columns_alike = (y == y[:1]).all()
    assert rows_alike == (noise_shape[-1] == 1)
    assert columns_alike == (len(noise_shape) == 1 or noise_shape[0] == 1)


def test_the_gradient_of_dropout_is_its_mask(backend: str) -> None:
    x = wt.tensor(RANDOM.uniform(1, 2, (40,)))
    y, gradient = wt.value_and_grad(lambda x: wt.dropout(x, 0.25, seed=4))(x)
    np.testing.assert_allclose((gradient * x).numpy(), y.numpy(), rtol=1e-6)


# -- cells ---------------------------------------------------------------------------------------


def test_multi_rnn_cell_feeds_each_cell_with_the_one_before(backend: str, no_leak: None) -> None:
    def random(*shape: int) -> wt.Tensor:
        return wt.tensor(RANDOM.uniform(-1, 1, shape).astype(np.float32))

    kernels, biases = [random(5, 8), random(4, 8)], [random(8), random(8)]
    data, c, h = random(2, 3), [random(2, 2), random(2, 2)], [random(2, 2), random(2, 2)]
    cells = [
        lambda data, c, h, kernel=kernel, bias=bias: wt.basic_lstm_cell(
            1.0, kernel, bias, data, c, h
        )
        for kernel, bias in zip(kernels, biases, strict=True)
    ]
    new_c, new_h = wt.multi_rnn_cell(cells, data, c, h)
    first = wt.basic_lstm_cell(1.0, kernels[0], biases[0], data, c[0], h[0])
    second = wt.basic_lstm_cell(1.0, kernels[1], biases[1], first[1], c[1], h[1])
    assert [part.tolist() for part in new_c] == [first[0].tolist(), second[0].tolist()]
    assert [part.tolist() for part in new_h] == [first[1].tolist(), second[1].tolist()]


# -- losses --------------------------------------------------------------------------------------


def test_softmax_cross_entropy_is_the_same_under_both_names(backend: str) -> None:
    labels, logits = np.eye(4, dtype=np.float32), RANDOM.uniform(-3, 3, (4, 4)).astype(np.float32)
    loss = wt.losses.softmax_cross_entropy(labels, logits)
    assert loss.tolist() == wt.softmax_cross_entropy(labels, logits).tolist()


def test_reductions_may_be_given_as_numbers() -> None:
    assert [reduction.value for reduction in wt.Reduction] == [0, 1, 2, 3]
    loss = wt.losses.mean_squared_error([1.0, 2.0], [0.0, 0.0], None, wt.Reduction.SUM)
    assert loss.tolist() == wt.losses.mean_squared_error([1.0, 2.0], [0.0, 0.0], None, 2).tolist()


def test_methods_are_the_functions(backend: str) -> None:
    x = wt.tensor(RANDOM.uniform(0, 1, (1, 4, 4, 2)))
    filter = wt.ones((2, 2, 2, 3))
    assert x.conv2d(filter, 1, "same").tolist() == wt.conv2d(x, filter, 1, "same").tolist()
    assert x.pool(2, "avg", "valid").tolist() == wt.pool(x, 2, "avg", "valid").tolist()
    assert x.resize_bilinear((2, 3)).tolist() == wt.image.resize_bilinear(x, (2, 3)).tolist()
    expected = wt.local_response_normalization(x, 1).tolist()
    assert x.local_response_normalization(1).tolist() == expected


# -- windows of pools --------------------------------------------------------------------------


def test_trimmed_windows_read_the_same_elements() -> None:
    random = Random(0)

    def pair(most: int) -> tuple[int, int]:
        return random.randint(1, most), random.randint(1, most)

    def rows(window: Window, output: int) -> list[int]:
        start = output * window.stride_height - window.pad_top
        taken = range(start, start + window.filter_height * window.dilation_height)
        return [row for row in taken[:: window.dilation_height] if 0 <= row < window.in_height]

    for _ in range(500):
        shape = (1, *pair(7), 1)
        padding: Any = random.choice(["same", "valid", random.randint(0, 5)])
        window = make_window("pool", shape, 1, pair(12), WindowOptions(pair(4), padding, pair(3)))
        shorter = trimmed(window)
        assert shorter.filter_height <= max(1, window.in_height + 3 * window.out_height)
        for output in range(window.out_height):
            assert rows(shorter, output) == rows(window, output)


def test_filters_far_larger_than_images_cost_no_more(backend: str) -> None:
    x = np.arange(12, dtype="float32").reshape(1, 3, 4, 1)
    maxima, indices = wt.max_pool_with_argmax(x, (10**5, 10**6), (10**5, 10**6), "same")
    assert maxima.tolist() == [[[[11.0]]]]
    assert indices.tolist() == [[[[11]]]]
    assert wt.avg_pool(x, 10**6, 1, "same").tolist() == np.full((1, 3, 4, 1), 5.5).tolist()
