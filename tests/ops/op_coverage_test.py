"""docs/op_coverage.md is that of the op table, of the exceptions, and, in a sweep, of the samples."""

import pytest
from deviations import compared_rows
from op_coverage import COMMAND, LEAST_SHARE, PAGE, TORCH, Counts, counted, page, share, written_counts

pytestmark = pytest.mark.skipif(
    f"torch {TORCH}" not in PAGE.read_text(), reason="the page is of another release of torch"
)
STALE = f"docs/op_coverage.md is stale: {COMMAND}"


def test_the_page_has_the_rows_and_sums_of_today():
    """All but the counts of samples by row, as samples take long to draw."""
    text = PAGE.read_text()
    counts = written_counts(text)
    assert sorted(counts) == compared_rows(), STALE
    assert page(counts) == text, STALE


def test_nearly_all_samples_have_no_exception():
    assert share(written_counts(PAGE.read_text())) >= LEAST_SHARE


@pytest.mark.sweep
def test_the_page_has_the_samples_of_today():
    assert page({row: counted(row) for row in compared_rows()}) == PAGE.read_text(), STALE


def test_a_changed_count_shows_in_the_sums():
    text = PAGE.read_text()
    counts = written_counts(text)
    row = next(iter(counts))
    changed = counts | {row: Counts("f32", counts[row].samples + 1, 1, 0)}
    assert page(changed) != text
    assert written_counts(page(changed)) == changed
