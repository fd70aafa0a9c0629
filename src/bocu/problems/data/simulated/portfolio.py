"""A stand-in for the portfolio evaluations: multi-period trading by convex optimisation over simulated returns.

Each day a planner maximises, over the next days, expected return minus risk, trading and holding costs weighed by the
three decisions (Boyd et al. 2017, section 5), carries out the first trade, and meets the simulated market, which
charges the same costs unweighed. The market, its forecasts and its costs are made up; the inputs are scaled as by
Cakmak et al. (2020), and `Y` is minus the mean excess return in percent a year. One file holds 100 evaluations.
"""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import torch

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.core.io.provenance import SIMULATED_LABEL

_SEED = 2017
EVALUATIONS = 100
# Value at input 0 and at input 1, of the published evaluations.
RISK_AVERSION = (0.1, 1000.0)
TRADE_AVERSION = (5.5, 8.0)
HOLDING_MULTIPLIER = (0.1, 100.0)
BID_ASK_SPREAD = (1e-4, 1e-2)
BORROWING_COST = (1e-4, 1e-3)  # of the amount sold short, a day
LEVERAGE = 3.0
ASSETS, FACTORS = 8, 2
DAYS, HORIZON = 60, 2
TRADING_DAYS = 250  # a year
PREMIUM = 2e-4  # mean daily return above cash
DRIFT, MEMORY = 1.5e-3, 0.95  # standard deviation of the predictable part of a day's return, and its share next day
IMPACT = 0.02  # market impact of trading the whole wealth in one asset, in standard deviations of its return


@dataclass(frozen=True)
class Market:
    """Simulated days."""

    returns: np.ndarray  #: (days, assets), daily excess returns.
    forecasts: np.ndarray  #: (days, assets), what the planner expects of them.
    risk: np.ndarray  #: (factors + assets, assets), whose rows squared and summed give the daily variance.
    volatility: np.ndarray  #: (assets,), daily standard deviations.


def simulate(path: str | os.PathLike[str]) -> None:
    """Write one file of evaluations, `port_n=100_seed=<number>`; the number seeds its inputs."""
    torch.set_num_threads(1)
    number = int(Path(path).name.rpartition("=")[2])
    inputs = np.random.default_rng([_SEED, number]).random((EVALUATIONS, 5)).astype(np.float32)
    yearly = evaluate(inputs.astype(float))
    content = {
        "X": torch.from_numpy(inputs)[:, None, :],
        "Y": torch.as_tensor(-yearly, dtype=torch.float32)[:, None, None],
        "data_label": SIMULATED_LABEL,
    }
    with atomic_path(path) as temporary:
        torch.save(content, temporary)


def evaluate(inputs: np.ndarray) -> np.ndarray:
    """Mean excess return in percent a year (n,) at inputs (n, 5) in [0, 1]."""
    market = make_market()
    planner = _Planner(market)
    ends = np.array([RISK_AVERSION, TRADE_AVERSION, HOLDING_MULTIPLIER, BID_ASK_SPREAD, BORROWING_COST])
    return np.array([_backtest(market, planner, *row) for row in ends[:, 0] + inputs * (ends[:, 1] - ends[:, 0])])


def make_market() -> Market:
    """Draw the one market: a factor model of returns with a slow, partly predictable drift."""
    rng = np.random.default_rng(_SEED)
    exposure = rng.normal(0.6, 0.5, (ASSETS, FACTORS))
    factor_sd = np.array([0.008, 0.005])
    own_sd = rng.uniform(0.006, 0.014, ASSETS)
    days = DAYS + HORIZON
    drift = np.zeros((days, ASSETS))
    drift[0] = rng.normal(0, DRIFT, ASSETS)
    for day in range(1, days):
        drift[day] = MEMORY * drift[day - 1] + rng.normal(0, DRIFT * np.sqrt(1 - MEMORY**2), ASSETS)
    drift += PREMIUM
    shocks = (factor_sd * rng.standard_normal((days, FACTORS))) @ exposure.T + own_sd * rng.standard_normal(
        (days, ASSETS)
    )
    shocks -= shocks[:DAYS].mean(axis=0)  # so short a market would otherwise owe its returns to luck
    forecasts = 0.6 * (drift + rng.normal(0, DRIFT, drift.shape))
    risk = np.vstack([(exposure * factor_sd).T, np.diag(own_sd)])
    return Market(drift + shocks, forecasts, risk, np.sqrt((risk**2).sum(axis=0)))


class _Planner:
    """The convex problem of one day, compiled once; weights of assets are shares of wealth, cash is the rest."""

    def __init__(self, market: Market) -> None:
        self.before = cp.Parameter(ASSETS)
        self.forecasts = cp.Parameter((HORIZON, ASSETS))
        self.risk, self.spread, self.trade, self.hold = (cp.Parameter(nonneg=True) for _ in range(4))
        self.weights = cp.Variable((HORIZON, ASSETS))
        trades = cp.Variable((HORIZON, ASSETS))
        objective: Any = 0
        constraints = [self.weights[0] == self.before + trades[0]]
        constraints += [self.weights[step] == self.weights[step - 1] + trades[step] for step in range(1, HORIZON)]
        for step in range(HORIZON):
            weights = self.weights[step]
            impact = cp.sum(cp.multiply(IMPACT * market.volatility, cp.power(cp.abs(trades[step]), 1.5)))
            objective += self.forecasts[step] @ weights - self.risk * cp.sum_squares(market.risk @ weights)
            objective -= (
                self.spread * cp.norm1(trades[step]) + self.trade * impact + self.hold * cp.sum(cp.neg(weights))
            )
            constraints.append(cp.norm1(weights) <= LEVERAGE)
        self.problem = cp.Problem(cp.Maximize(objective), constraints)

    def first_weights(self, before: np.ndarray, forecasts: np.ndarray) -> np.ndarray:
        """Weights (assets,) to hold next.

        Raises:
            BocuError: the solver found no optimum.
        """
        self.before.value, self.forecasts.value = before, forecasts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of reduced accuracy, told by the status below
            self.problem.solve(solver=cp.CLARABEL)
        if self.problem.status not in ("optimal", "optimal_inaccurate"):
            raise BocuError(f"simulated portfolio: the solver says '{self.problem.status}'; allowed: an optimum")
        return np.asarray(self.weights.value)[0]


def _backtest(
    market: Market, planner: _Planner, risk: float, trade: float, hold: float, spread: float, borrowing: float
) -> float:
    planner.risk.value, planner.trade.value = risk, trade
    planner.spread.value, planner.hold.value = trade * spread / 2, hold * borrowing
    held = np.full(ASSETS, 1 / ASSETS)
    gains = []
    for day in range(DAYS):
        weights = planner.first_weights(held, market.forecasts[day : day + HORIZON])
        trades = np.abs(weights - held)
        costs = spread / 2 * trades.sum() + IMPACT * market.volatility @ trades**1.5
        costs += borrowing * np.maximum(-weights, 0).sum()
        gain = market.returns[day] @ weights - costs
        gains.append(gain)
        held = weights * (1 + market.returns[day]) / (1 + gain)
    return 100 * TRADING_DAYS * float(np.mean(gains))
