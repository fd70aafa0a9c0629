"""Orders of a kiosk whose demand depends on the rain, sampled through OptunaHub."""

import random
from pathlib import Path

import optuna
import optunahub

optuna.logging.set_verbosity(optuna.logging.WARNING)
# Once the folder is published: optunahub.load_module("samplers/robust_context")
hub = optunahub.load_local_module("samplers/robust_context", registry_root=str(Path(__file__).parents[2]))
weather = random.Random(0)


def profit(trial: optuna.Trial) -> float:
    """Order, meet the rain, sell."""
    order = trial.suggest_int("order", 20, 90)
    rain = 10.0 * weather.random()
    trial.set_user_attr("rain", rain)
    return 3.0 * min(order, 90.0 - 6.0 * rain) - 1.5 * order


sampler = hub.RobustSampler(["rain"], radius=0.4, seed=0)
study = optuna.create_study(sampler=sampler, direction="maximize")
study.optimize(profit, n_trials=12)
print(sampler.recommend(study).decision)
