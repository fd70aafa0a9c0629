"""Claims of papers about their experiments, as data: what is said, the check, and the verdict of the numbers.

    from bocu.sweep.evaluation.claims import read_claims, verdict

    claim = read_claims("config/claims/ziomek2025.yaml").claim("hills-mle-sticks")
    print(verdict(claim, "results/ziomek2025/cubes/hills.nc").outcome)

See docs/claims.md.
"""

from bocu.sweep.evaluation.claims.model import Claim as Claim
from bocu.sweep.evaluation.claims.model import ClaimsFile as ClaimsFile
from bocu.sweep.evaluation.claims.model import read_claims as read_claims
from bocu.sweep.evaluation.claims.verdicts import FAILS as FAILS
from bocu.sweep.evaluation.claims.verdicts import HOLDS as HOLDS
from bocu.sweep.evaluation.claims.verdicts import LEANS_AGAINST as LEANS_AGAINST
from bocu.sweep.evaluation.claims.verdicts import LEANS_FOR as LEANS_FOR
from bocu.sweep.evaluation.claims.verdicts import NOT_RUN as NOT_RUN
from bocu.sweep.evaluation.claims.verdicts import OPEN as OPEN
from bocu.sweep.evaluation.claims.verdicts import OUTCOMES as OUTCOMES
from bocu.sweep.evaluation.claims.verdicts import Finding as Finding
from bocu.sweep.evaluation.claims.verdicts import Verdict as Verdict
from bocu.sweep.evaluation.claims.verdicts import verdict as verdict
from bocu.sweep.evaluation.claims.verdicts import verdicts as verdicts
