"""The machine without a clock: one executor that runs any plan, and says what is left or wrong.
Beside it the machine with a clock.

`run` follows lanes and the positions of routers (`collc_evaluator`), whatever form a plan has; what
a plan means for it is read in `collc.machine.reading`. Why one order of moves decides for all of
them, docs/one-order.md says. `collc.machine.timed` runs scripts, what the code of PEs does, on the
same routers with a clock and with queues of finite depth.
"""

from collc.machine.reading import cuts_of as cuts
from collc.machine.running import Fault, Receipt, Run, run

__all__ = ["Fault", "Receipt", "Run", "cuts", "run"]
