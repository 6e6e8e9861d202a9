"""The servers of a run."""

import scripts
from play import play
from sides import Ours, Theirs


class Arena:
    """One server with Terrarium's controllers, and one with real controllers for each setting of the gates."""

    def __init__(self, binary, program, gates):
        self._binary = binary
        self._ours = Ours(binary)
        self._theirs = {}
        try:
            for name in gates:
                values, flags = scripts.GATES[name]
                text = ",".join(f"{gate}={str(value).lower()}" for gate, value in values.items())
                self._theirs[name] = Theirs(
                    binary, program, values, [*flags, *([f"--feature-gates={text}"] if text else [])]
                )
            for side in self._theirs.values():
                side.wait_until_working()
        except BaseException:
            self.close()
            raise

    def play(self, script, ours=None):
        gates = scripts.GATES[script.gates][0]
        theirs = self._theirs[script.gates]
        return play(script, lambda name: (ours or self._ours).open(name, gates), theirs.open)

    def plays_with_idle_controllers(self, some):
        """Plays scripts on a side whose controllers are off: they must differ."""
        idle = Ours(self._binary, controllers="-*")
        try:
            return [self.play(script, idle) for script in some]
        finally:
            idle.close()

    def close(self):
        self._ours.close()
        for side in self._theirs.values():
            side.close()
