"""Internals in a terminal and as pictures: every figure is there, nothing is invented."""

import io

import pytest
from rich.console import Console

from vqaudit.analysis.estimates import Estimate
from vqaudit.analysis.internals import (
    ConditionRow,
    Fitting,
    GammaRow,
    Internals,
    LayerGap,
    LayerRow,
    LayersFindings,
    ProbeFindings,
    ReadoutFindings,
    ReadoutRow,
    Shuffled,
    VocabularyFindings,
    VocabularyRow,
)
from vqaudit.report.terminal import internals_view


def share(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.05, high=value + 0.05, n=397, trials=600)


FITTING = Fitting(
    sentence="trained on train",
    train=3000,
    validation=500,
    test=600,
    test_groups=397,
    seeds=5,
    epochs=50,
    rate=1e-3,
    decay=0.01,
    batch=64,
    seed=0,
)
SHUFFLED = Shuffled(accuracy=0.281, low=0.25, high=0.32, permutations=200)


def condition(native: float, probe: float, scores: Shuffled | None) -> ConditionRow:
    return ConditionRow(
        native=share(native),
        native_first=share(0.4),
        probe=share(probe),
        probe_seed_sd=0.01,
        probe_first=share(0.28),
        delta=share(probe - native),
        delta_seed_sd=0.01,
        shuffled_probe=SHUFFLED,
        shuffled_native=scores,
        reproduced=None if scores is None else 1.0,
        validation=(0.6,),
        best_epochs=(3,),
    )


PROBE = ProbeFindings(
    fitting=FITTING,
    direct="bare-scores",
    chance=0.278,
    answer_first=share(0.263),
    conditions={"bare-scores": condition(0.923, 0.921, SHUFFLED), "cot-prefix": condition(0.49, 0.63, None)},
    gammas={"cot-prefix": GammaRow(gamma=share(0.142), seed_sd=0.017)},
    left_out=0,
    sentences=("[red]a sentence[/]",),
)
LAYERS = LayersFindings(
    fitting=FITTING,
    direct="bare-scores",
    chance=0.278,
    layers=[
        LayerRow(
            layer=layer,
            accuracy={"bare-scores": share(0.3 + layer / 4), "cot-prefix": share(0.3 + layer / 8)},
            seed_sd={"bare-scores": 0.01, "cot-prefix": 0.01},
        )
        for layer in range(3)
    ],
    gaps={"cot-prefix": [LayerGap(layer=layer, gap=share(layer / 8)) for layer in range(3)]},
)
READOUT = ReadoutFindings(
    fitting=FITTING.model_copy(update={"validation": None}),
    rank=32,
    tokens=10,
    retrained={
        "both": {"cot-prefix": ReadoutRow(before=share(0.49), after=share(0.592), change=share(0.102), seed_sd=0.01)}
    },
    files={"both": "internals/readout-both.parquet"},
)
VOCABULARY = VocabularyFindings(
    trials=600,
    conditions={
        "cot-prefix": [
            VocabularyRow(
                layer=0,
                id_mass=share(0.0003),
                watch_mass=None,
                right_rank=share(1107.2),
                right_probability=share(0.434),
            )
        ]
    },
)


def shown(found: Internals, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    console.print(internals_view(found))
    return console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def test_every_part_is_told_in_eighty_columns() -> None:
    text = shown(
        Internals(probe=PROBE, layers=LAYERS, readout=READOUT, vocabulary=VOCABULARY, reasons={"layers": "why"})
    )
    for figure in ("92.3 %", "63.0 % [58.0, 68.0]", "+14.2 pp", "seed sd 1.7 pp", "28.1 % [25.0, 32.0]", "27.8 %"):
        assert figure in text
    for figure in ("+25.0 pp", "59.2 %", "+10.2 pp", "3.0e-02 %", "1,107.2", "43.4 %", "layers: why"):
        assert figure in text
    assert "[red]a sentence[/]" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in text.lower()
    assert "None" not in text


def test_nothing_is_told_of_nothing() -> None:
    assert shown(Internals()).strip() == "nothing is known of the internals of this run"


def test_the_picture_of_layers_has_every_layer_and_chance() -> None:
    pytest.importorskip("altair")
    from vqaudit.report.charts import layer_accuracies

    picture = layer_accuracies(LAYERS)
    assert picture is not None
    assert picture.svg.startswith("<svg ")
    assert [row[0] for row in picture.rows] == ["0", "1", "2"]
    assert picture.rows[2][1].startswith("80.0 %")
    assert picture.rows[2][3].startswith("+25.0 pp")
    assert "27.8 %" in picture.caption
    assert "n = 397 items" in picture.caption
    assert layer_accuracies(LAYERS.model_copy(update={"layers": LAYERS.layers[:1]})) is None


def test_the_picture_of_probes_says_what_is_recovered() -> None:
    pytest.importorskip("altair")
    from vqaudit.report.charts import recovered_accuracies

    picture = recovered_accuracies(PROBE)
    assert picture.title == "Under cot-prefix, a probe reads 63.0 % from states whose own scores give 49.0 %"
    assert picture.rows[1][4].startswith("+14.2 pp")
    sound = PROBE.model_copy(update={"conditions": {"bare-scores": condition(0.9, 0.9, None)}, "gammas": {}})
    assert recovered_accuracies(sound).title == "No probe reads more than the model's own ID scores do"
