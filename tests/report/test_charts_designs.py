from __future__ import annotations

import pytest

pytest.importorskip("altair")

from vqaudit.report.charts.designs import DesignCost, cost_and_error


def test_cost_and_error_draws_every_design_and_tables_the_exact_one():
    rows = [DesignCost("randomised", 1, 2.3), DesignCost("randomised", 2, 1.6), DesignCost("full grid", 192, 0.0)]
    found = cost_and_error(rows, title="Error against cost")
    assert found.svg.startswith("<svg ")
    assert "passes over the items" in found.svg
    assert found.rows == (("randomised", "1", "2.30"), ("randomised", "2", "1.60"), ("full grid", "192", "0.00"))
    assert found.svg.count('aria-roledescription="point"') in (0, 2)
