"""What factor levels and positions do to accuracy, question by question: one model of every trial.

Knows the analysis frame. Owns statsmodels in this package; it is loaded when a logit is fitted.
"""

from vqaudit.analysis.effects.findings import Effects, FactorEffects, LevelEffect, trial_effects

__all__ = ["Effects", "FactorEffects", "LevelEffect", "trial_effects"]
