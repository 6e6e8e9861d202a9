#!/usr/bin/env python3
"""Sets one end-to-end suite up and runs it against a terrarium binary.

  run_suite.py NAME --terrarium build/dev/testbed/terrarium [-- arguments for the suite's own runner]
  run_suite.py --fetch             only fetches what the suites need into the cache folder

Exits with the suite's own code, or with 77 and one line when something it needs is missing on this machine. With
TERRARIUM_E2E_REQUIRE=1 in the environment (as CI has it) a missing tool is a failure.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from lib import cache, kubernetes, tools  # noqa: E402: after the line above, so that it holds for them
from lib.server import BARE, Server, ServerFailed  # noqa: E402

E2E = tools.E2E
SKIPPED = 77


def _unittest(python, folder, environment, extra):
    """Runs the unittest modules of a folder: test_*.py, or those that `extra` names (module.Class.test)."""
    command = [python, "-m", "unittest", *(extra or ["discover", "-s", ".", "-p", "test_*.py"])]
    environment = {**os.environ, **environment, "PYTHONPATH": str(E2E), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.call(list(map(str, command)), cwd=folder, env=environment)


def _with_server(binary, run):
    """run(environment) against a new bare server; its exit code, or 1 if the server did not exit with 0."""
    try:
        with Server(binary, *BARE) as server:
            code = run({"TERRARIUM_BINARY": str(binary), "TERRARIUM_URL": server.url, "KUBECONFIG": server.kubeconfig})
    except ServerFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return code


def kubectl(age):
    def suite(binary, extra):
        program = tools.kubectl(age)
        return binary and _with_server(
            binary, lambda env: _unittest(sys.executable, E2E / "kubectl", {**env, "KUBECTL": str(program)}, extra)
        )

    return suite


def go(binary, extra):
    program = tools.go(E2E / "go")
    return binary and _with_server(
        binary,
        lambda env: subprocess.call(
            [program, "test", "-count=1", *extra, "./..."], cwd=E2E / "go", env={**os.environ, **env}
        ),
    )


def rust(binary, extra):
    program, settings = tools.cargo(E2E / "rust")
    # One test after the other: some drop the history that a watch of another test needs.
    command = [program, "test", "--locked", "--quiet", "--", "--test-threads=1", *extra]
    return binary and _with_server(
        binary, lambda env: subprocess.call(command, cwd=E2E / "rust", env={**os.environ, **settings, **env})
    )


def helm(binary, extra):
    environment = {"TERRARIUM_BINARY": str(binary), "HELM": str(tools.helm())}  # each class starts its own server
    return binary and _unittest(sys.executable, E2E / "helm", environment, extra)


def python(binary, extra):
    interpreter = tools.python_with(E2E / "python" / "requirements.txt")
    return binary and _with_server(binary, lambda env: _unittest(interpreter, E2E / "python", env, extra))


def _node_packages(tests, modules):
    """The environment for resolve.mjs: the modules of `tests` import packages from `modules`."""
    return {"TERRARIUM_NODE_TESTS": str(tests), "TERRARIUM_NODE_MODULES": str(modules)}


NODE_RESOLVE = (E2E / "js" / "resolve.mjs").as_uri()


def js(binary, extra):
    program, modules = tools.node(E2E / "js")

    def run(environment):
        environment = {**os.environ, **environment, **_node_packages(E2E / "js", modules)}
        tests = extra or sorted(str(path) for path in (E2E / "js").glob("*.test.mjs"))
        return subprocess.call(
            [str(program), "--import", NODE_RESOLVE, "--test", "--test-concurrency=1", *tests], env=environment
        )

    return binary and _with_server(binary, run)


def java(binary, extra):
    program, compiler, jars = tools.java(E2E / "java")

    def run(environment):
        with tempfile.TemporaryDirectory(prefix="terrarium-e2e-") as classes:
            sources = sorted(map(str, (E2E / "java" / "src").rglob("*.java")))
            compilation = [compiler, "-Werror", "-Xlint:all,-classfile,-processing,-try", "-d", classes, "-cp", jars]
            if code := subprocess.call([*map(str, compilation), *sources]):
                return code
            # fabric8 reports a lost connection, which tests cause, as information.
            command = [program, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{classes}:{jars}"]
            command += ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner"]
            command += ["--disable-ansi-colors", "--details=tree", "--fail-if-no-tests"]
            # fabric8 waits for the start of a watch without a limit.
            command += ["--config", "junit.jupiter.execution.timeout.default=120s"]
            command += extra or [f"--scan-classpath={classes}"]
            return subprocess.call(command, env={**os.environ, **environment})

    return binary and _with_server(binary, run)


def schemathesis(binary, extra):
    interpreter = tools.python_with(E2E / "schemathesis" / "requirements.txt")
    return binary and _with_server(
        binary,
        lambda env: subprocess.call(
            [str(interpreter), str(E2E / "schemathesis" / "check.py"), *extra],
            env={**os.environ, **env, "PYTHONPATH": str(E2E), "PYTHONDONTWRITEBYTECODE": "1"},
        ),
    )


def golden(binary, extra):
    folder = E2E.parent.parent / "shared" / "golden"
    conversations = sorted(path for part in ("recorded", "recorded-apply") for path in folder.glob(f"{part}/*.json"))
    if not conversations:
        # Not part of the project, so they are optional.
        print("golden: skipped, the recorded answers of a real apiserver are not beside the checkout (../shared/golden)")
        return SKIPPED
    return binary and _with_server(
        binary,
        lambda env: subprocess.call(
            [sys.executable, str(folder / "golden.py"), "check", env["TERRARIUM_URL"], *map(str, conversations), *extra]
        ),
    )


def _with_both_kubectls(interpreter, folder, binary, extra, old):
    """All tests with the new kubectl, then those of `old`, which depend on kubectl most, with the old one."""
    programs = {age: str(tools.kubectl(age)) for age in ("new", "old")}

    def run(age, tests):
        environment = {"TERRARIUM_BINARY": str(binary), "KUBECTL": programs[age]}  # each class starts its own server
        return _unittest(interpreter, folder, environment, tests)

    if not binary or extra:
        return binary and run("new", extra)
    return run("new", []) or run("old", old)


def pods(binary, extra):
    old = ["test_collection", "test_commands", "test_grace_period"]
    return _with_both_kubectls(sys.executable, E2E / "pods", binary, extra, old)


def workloads(binary, extra):
    interpreter = tools.python_with(E2E / "python" / "requirements.txt")  # test_python_client needs the package
    old = ["test_rollout", "test_scaling", "test_show", "test_drain", "test_kubectl_skew"]
    return _with_both_kubectls(interpreter, E2E / "workloads", binary, extra, old)


def picker(binary, extra):
    program, node = tools.kubectl("new"), shutil.which("node")  # the examples need no newer version than the installed one
    for command, found in {"node": node, "openssl": shutil.which("openssl"), "curl": shutil.which("curl")}.items():
        if not found:
            raise cache.Missing(f"{command} (no such command on the PATH)")
    environment = {"TERRARIUM_BINARY": str(binary), "KUBECTL": str(program), "NODE": node}
    return binary and _unittest(sys.executable, E2E / "picker", environment, extra)


def cli(binary, extra):
    return binary and _unittest(sys.executable, E2E / "cli", {"TERRARIUM_BINARY": str(binary)}, extra)


def http(binary, extra):
    return binary and _unittest(sys.executable, E2E / "http", {"TERRARIUM_BINARY": str(binary)}, extra)


LAUNCHERS = E2E.parent / "launchers"


def _in_turn(binary, *commands):
    """The launchers start servers themselves; the first command that fails ends the suite."""
    for command, folder, environment in commands:
        environment = {**os.environ, "TERRARIUM": str(binary), **environment}
        if code := subprocess.call(list(map(str, command)), cwd=folder, env=environment):
            return code
    return 0


def launcher_go(binary, extra):
    folder = LAUNCHERS / "go"
    program = tools.go(folder / "example")
    command = [program, "test", "-count=1", *extra, "./..."]
    return binary and _in_turn(binary, (command, folder, {}), (command, folder / "example", {}))


def launcher_python(binary, extra):
    folder = LAUNCHERS / "python"
    interpreter = tools.python_with(folder / "example" / "requirements.txt")
    command = [interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", *extra]
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    return binary and _in_turn(
        binary, (command, folder / "tests", environment), (command, folder / "example", environment)
    )


def launcher_node(binary, extra):
    folder = LAUNCHERS / "node"
    program, modules = tools.node(folder / "example")
    command = [program, "--import", NODE_RESOLVE, "--test", *extra]
    environment = _node_packages(folder / "example", modules)
    return binary and _in_turn(
        binary,
        ([*command, "terrarium.test.mjs"], folder, environment),
        ([*command, "rollout.test.mjs"], folder / "example", environment),
    )


def clusters(binary, extra):
    return _with_both_kubectls(sys.executable, E2E / "clusters", binary, extra, ["test_kubectl"])


def crash(binary, extra):
    return binary and subprocess.call(
        [sys.executable, str(E2E / "crash" / "crash.py"), "--terrarium", str(binary), *extra],
        env={**os.environ, "PYTHONPATH": str(E2E), "PYTHONDONTWRITEBYTECODE": "1"},
    )


def http_fuzz(binary, extra):
    environment = {"PYTHONPATH": str(E2E), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(E2E / "http_fuzz" / "fuzz.py"), "--terrarium", str(binary), *extra]
    return binary and (
        _unittest(sys.executable, E2E / "http_fuzz", {}, [])
        or subprocess.call(command, env={**os.environ, **environment})
    )


def _upstream(*arguments):
    return subprocess.call([sys.executable, str(E2E / "upstream" / "run.py"), *map(str, arguments)])


def kubernetes_programs(binary, extra):
    """Builds the programs of the suites about Kubernetes: they share most packages, which Go compiles once."""
    kubernetes.kube_controller_manager()
    kubernetes.kube_scheduler()
    tools.cluster_tools()
    return _upstream("--prepare")


def real_components(binary, extra):
    state_metrics, kuttl = tools.cluster_tools()
    environment = {
        "TERRARIUM_BINARY": str(binary),
        "KUBE_CONTROLLER_MANAGER": str(kubernetes.kube_controller_manager()),
        "KUBE_SCHEDULER": str(kubernetes.kube_scheduler()),
        "KUBE_STATE_METRICS": str(state_metrics),
        "KUTTL": str(kuttl),
    }
    return binary and _unittest(sys.executable, E2E / "real_components", environment, extra)


def upstream(binary, extra):
    return _upstream("--terrarium", binary, *extra) if binary else _upstream("--prepare")


def differential(binary, extra):
    program = kubernetes.kube_controller_manager()
    command = [E2E / "differential" / "differential.py", "--terrarium", binary, "--controller-manager", program, *extra]
    environment = {"PYTHONPATH": str(E2E), "PYTHONDONTWRITEBYTECODE": "1"}
    return binary and (
        _unittest(sys.executable, E2E / "differential", {}, [])
        or subprocess.call([sys.executable, *map(str, command)], env={**os.environ, **environment})
    )


SUITES = {
    "kubectl-old": kubectl("old"),
    "kubectl-new": kubectl("new"),
    "go": go,
    "rust": rust,
    "helm": helm,
    "python": python,
    "js": js,
    "java": java,
    "schemathesis": schemathesis,
    "golden": golden,
    "pods": pods,
    "workloads": workloads,
    "picker": picker,
    "cli": cli,
    "http": http,
    "clusters": clusters,
    "launcher-go": launcher_go,
    "launcher-python": launcher_python,
    "launcher-node": launcher_node,
    "crash": crash,
    "http-fuzz": http_fuzz,
    "kubernetes": kubernetes_programs,
    "real-components": real_components,
    "upstream": upstream,
    "differential": differential,
}


def _run(name, binary, extra):
    try:
        return SUITES[name](binary, extra) or 0
    except cache.Missing as missing:
        if os.environ.get("TERRARIUM_E2E_REQUIRE") == "1":
            print(f"{name}: missing, and everything is required here: {missing}", file=sys.stderr)
            return 1
        print(f"{name}: skipped, missing: {missing}")
        return SKIPPED


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", choices=sorted(SUITES))
    parser.add_argument("--terrarium", type=pathlib.Path, help="the server binary")
    parser.add_argument("--fetch", action="store_true", help="only fetch, for all suites or the one named")
    own, extra = (
        (sys.argv[1:], [])
        if "--" not in sys.argv
        else (sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :])
    )
    options = parser.parse_args(own)
    if options.fetch:
        return max(_run(name, None, []) for name in ([options.suite] if options.suite else SUITES))
    if not options.suite or not options.terrarium:
        parser.error("a suite and --terrarium are needed")
    return _run(options.suite, options.terrarium.resolve(), extra)


if __name__ == "__main__":
    sys.exit(main())
