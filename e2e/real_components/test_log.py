"""What program.py reads from a log."""

import unittest

import program

LOG = """\
I1118 20:00:00.000001       1 reflector.go:472] "Listing and watching" type="*v1.Pod" reflector="factory.go:160"
I1118 20:00:00.000002       1 reflector.go:472] "Listing and watching" type="*v1.Node" reflector="factory.go:160"
I1118 20:00:00.000003       1 reflector.go:507] "Caches populated" type="*v1.Pod" reflector="factory.go:160"
"""
ERROR = 'E1118 20:00:00.1 1 reflector.go:227] "Failed to watch" err="not found" type="*v1.Node"\n'


class Log(unittest.TestCase):
    def test_an_informer_without_its_objects_is_not_synced(self):
        self.assertEqual(program.unsynced(LOG), [("*v1.Node", "factory.go:160")])
        populated = LOG.splitlines()[2].replace("v1.Pod", "v1.Node")
        self.assertEqual(program.unsynced(LOG + populated), [])

    def test_an_informer_that_lists_again_is_found(self):
        self.assertEqual(program.repeated(LOG), [])
        self.assertEqual(program.repeated(LOG + LOG), [("*v1.Node", "factory.go:160"), ("*v1.Pod", "factory.go:160")])

    def test_failures_of_reflectors_and_panics_are_found(self):
        self.assertEqual(program.failures(LOG), [])
        self.assertEqual(program.failures(LOG + ERROR), [ERROR.strip()])
        self.assertEqual(len(program.failures(LOG + "panic: nil map\n" + 'E1118 1 runtime.go:1] "Observed a panic"\n')), 2)

    def test_errors_and_warnings_of_any_source_are_problems(self):
        warning = 'W1118 20:00:00.1 1 server.go:575] Failed to contact API server\n'
        self.assertEqual(program.problems(LOG), [])
        self.assertEqual(program.problems(LOG + ERROR + warning), [ERROR.strip(), warning.strip()])


if __name__ == "__main__":
    unittest.main()
