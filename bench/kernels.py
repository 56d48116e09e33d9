"""Hand-written numba kernels over segments, parallel in two threads.

The rows of a segment are packed as `bits of the score << 1 | label` and sorted in place. Only scores from 0 upward order
like their bits, so the kernels are right for those alone. Ties count by expectation over all orders within the tied block, in
closed form.
"""

import numba
import numpy as np

from tool import THREADS

K = 10
LONGEST = 4096  # rows of a segment
# Tables by rank from 0: what a relevant row at that rank adds to dcg@10, and the sum of that over the ranks before.
DISCOUNT = np.concatenate([1 / np.log2(np.arange(2, K + 2)), np.zeros(LONGEST)])
IDEAL = np.concatenate([[0.0], np.cumsum(DISCOUNT)])

numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))


@numba.njit(inline="always")
def sort_descending(keys, size):
    """Insertion sort, which beats the others at the usual twenty rows."""
    for i in range(1, size):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] < key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@numba.njit(inline="always")
def block_end(keys, start, size):
    """One past the last row with the score of row `start`, and the positives among them."""
    end, relevant = start, 0
    while end < size and keys[end] >> 1 == keys[start] >> 1:
        relevant += keys[end] & 1
        end += 1
    return end, relevant


@numba.njit(inline="always")
def expected_first(start, block, relevant):
    """Expectation of 1 / rank of the first positive of a tied block that begins at rank `start` (from 0)."""
    total, none_yet = 0.0, 1.0
    for j in range(block - relevant + 1):
        here = none_yet * relevant / (block - j)
        total += here / (start + j + 1)
        none_yet -= here
    return total


@numba.njit(inline="always")
def expected_precisions(start, block, relevant, above):
    """Expectation of the sum of the precisions at the positives of a tied block, with `above` positives before it."""
    if block == 1:
        return (above + 1) / (start + 1)
    each_before = (relevant - 1) / (block - 1)
    total = 0.0
    for j in range(block):
        total += (above + 1 + j * each_before) / (start + j + 1)
    return total * relevant / block


@numba.njit(inline="always")
def load(keys, bits, labels, start, end):
    for row in range(start, end):
        keys[row - start] = (bits[row] << np.uint32(1)) | np.uint32(labels[row])


@numba.njit(inline="always")
def count(labels, start, end):
    positives = 0
    for row in range(start, end):
        positives += labels[row]
    return positives


@numba.njit(parallel=True, nogil=True)
def ranking_sums(bits, labels, offsets, parts):
    """Sums over segments of precision@10, ndcg@10, reciprocal rank and average precision, and segments with a positive."""
    sums = np.zeros((parts, 8))  # one cache line for each part
    segments = len(offsets) - 1
    for part in numba.prange(parts):
        keys = np.empty(LONGEST, dtype=np.uint32)
        hits_sum, ndcg_sum, first_sum, average_sum, with_positive = 0.0, 0.0, 0.0, 0.0, 0
        for segment in range(segments * part // parts, segments * (part + 1) // parts):
            begin, size = offsets[segment], offsets[segment + 1] - offsets[segment]
            if count(labels, begin, offsets[segment + 1]) == 0:
                continue
            load(keys, bits, labels, begin, offsets[segment + 1])
            sort_descending(keys, size)
            hits, dcg, first, precisions, above, start = 0.0, 0.0, 0.0, 0.0, 0, 0
            while start < size:
                end, relevant = block_end(keys, start, size)
                if relevant > 0:
                    block = end - start
                    if start < K:
                        hits += relevant * (min(K, end) - start) / block
                        dcg += relevant * (IDEAL[end] - IDEAL[start]) / block
                    if above == 0:
                        first = expected_first(start, block, relevant)
                    precisions += expected_precisions(start, block, relevant, above)
                    above += relevant
                start = end
            hits_sum += hits / K
            ndcg_sum += dcg / IDEAL[above]
            first_sum += first
            average_sum += precisions / above
            with_positive += 1
        sums[part, 0], sums[part, 1], sums[part, 2], sums[part, 3] = hits_sum, ndcg_sum, first_sum, average_sum
        sums[part, 4] = with_positive
    return sums


@numba.njit(parallel=True, nogil=True)
def ndcg_sums(bits, labels, offsets, parts):
    """Sum over segments of ndcg@10, and segments with a positive."""
    sums = np.zeros((parts, 8))
    segments = len(offsets) - 1
    for part in numba.prange(parts):
        keys = np.empty(LONGEST, dtype=np.uint32)
        total, with_positive = 0.0, 0
        for segment in range(segments * part // parts, segments * (part + 1) // parts):
            begin, size = offsets[segment], offsets[segment + 1] - offsets[segment]
            positives = count(labels, begin, offsets[segment + 1])
            if positives == 0:
                continue
            load(keys, bits, labels, begin, offsets[segment + 1])
            sort_descending(keys, size)
            dcg, start = 0.0, 0
            while start < min(size, K):
                end, relevant = block_end(keys, start, size)
                dcg += relevant * (IDEAL[end] - IDEAL[start]) / (end - start)
                start = end
            total += dcg / IDEAL[positives]
            with_positive += 1
        sums[part, 0], sums[part, 1] = total, with_positive
    return sums


PARTS = 64


def check(offsets: np.ndarray) -> None:
    if np.diff(offsets).max() > LONGEST:
        raise ValueError(f"a segment of more than {LONGEST:,} rows")


def ranking_means(scores: np.ndarray, labels: np.ndarray, offsets: np.ndarray) -> tuple[float, float, float, float]:
    """precision@10 over all segments; ndcg@10, mrr and map over those with a positive."""
    check(offsets)
    precision, ndcg, first, average, with_positive = ranking_sums(
        scores.view(np.uint32), labels, offsets, PARTS
    ).sum(axis=0)[:5]
    return precision / (len(offsets) - 1), ndcg / with_positive, first / with_positive, average / with_positive


def ndcg_mean(scores: np.ndarray, labels: np.ndarray, offsets: np.ndarray) -> float:
    """ndcg@10 over the segments with a positive."""
    check(offsets)
    total, with_positive = ndcg_sums(scores.view(np.uint32), labels, offsets, PARTS).sum(axis=0)[:2]
    return total / with_positive


@numba.njit(parallel=True, nogil=True)
def log_loss_sums(scores, labels, parts):
    sums = np.zeros((parts, 8))
    for part in numba.prange(parts):
        total = 0.0
        for row in range(len(scores) * part // parts, len(scores) * (part + 1) // parts):
            total -= np.log(np.float64(scores[row] if labels[row] > 0 else np.float32(1) - scores[row]))
        sums[part, 0] = total
    return sums


def log_loss(scores: np.ndarray, labels: np.ndarray) -> float:
    return log_loss_sums(scores, labels, PARTS)[:, 0].sum() / len(scores)
