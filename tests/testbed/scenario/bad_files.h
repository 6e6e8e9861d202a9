#pragma once

// Files with one error each: the message of the reader, and whether the JSON Schema detects it as well.

namespace terrarium::testbed::scenario {

struct BadFile {
  const char* text;
  const char* mistake;         // LINE:COLUMN: the beginning of the message
  bool schema_sees_it = true;  // false: a schema cannot detect it
};

inline constexpr BadFile kBadFiles[] = {
    // The text itself.
    {"", "1:1: the file holds no scenario", false},
    {"scenario: [x\nsteps: []\n", "2:6: did not find expected ',' or ']'", false},
    {"scenario: x\nscenario: z\nsteps: []\n", "2:1: key \"scenario\" already set in map", false},
    // Its top.
    {"- a\n", "1:1: a scenario is a mapping with `scenario` and `steps`"},
    {"scenario: x\n", "1:1: a scenario needs steps: what is done and expected, one after the other"},
    {"steps: []\n", "1:1: a scenario needs scenario: what it shows, in a sentence: its name"},
    {"scenario: 3\nsteps: []\n", "1:11: 3 is not a string: what the scenario shows"},
    {"scenario: x\nstep: []\nsteps: []\n", "2:1: unknown key \"step\" in a scenario (did you mean steps?)"},
    {"scenario: x\nsteps: {}\n", "2:8: {} is not a list of steps"},
    {"scenario: x\neach: {a: &d [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], b: *d, c: *d, d: *d, e: *d}\nsteps: []\n",
     "2:7: the values give more than 10000 scenarios", false},
    // Options.
    {"scenario: x\noptions: {nodes: -1}\nsteps: []\n", "2:18: -1 is not a whole number from 0 on"},
    {"scenario: x\noptions:\n  nodez: 1\nsteps: []\n",
     "3:3: unknown key \"nodez\" in options (did you mean nodes?)"},
    {"scenario: x\noptions: {seeds: []}\nsteps: []\n", "2:18: the list is empty: it is a list of seeds"},
    {"scenario: x\noptions: {featureGates: {PodDeletionKost: true}}\nsteps: []\n",
     "2:26: unknown feature gate \"PodDeletionKost\" (did you mean PodDeletionCost?)"},
    {"scenario: x\noptions: {featureGates: {PodDeletionCost: maybe}}\nsteps: []\n",
     "2:43: \"maybe\" is not true or false"},
    {"scenario: x\noptions: {startTime: tomorrow}\nsteps: []\n",
     "2:22: \"tomorrow\" is not a time like 2026-01-01T00:00:00Z"},
    {"scenario: x\noptions: {controllers: [job-kontroller]}\nsteps: []\n",
     "2:24: \"job-kontroller\" is not in the list of known controllers", false},
    {"scenario: x\noptions: {podDefaults: {start-deley: 1s}}\nsteps: []\n",
     "2:24: script[start-deley]: Unsupported value: \"start-deley\": supported values: \"cpu\"", false},
    {"scenario: x\noptions: {featureGates: {DeploymentPodReplacementPolicy: true, "
     "DeploymentReplicaSetTerminatingReplicas: false}}\nsteps: []\n",
     "2:25: DeploymentPodReplacementPolicy is enabled, but depends on features that are disabled", false},
    // Parameters.
    {"scenario: x\neach: {a: 1}\nsteps: []\n", "2:11: 1 is not a list of values"},
    {"scenario: x\neach: {n: [1]}\nsteps: []\n",
     "2:7: a parameter cannot be called y, n, yes, no, on or off, which are false in YAML", false},
    {"scenario: x\nsteps:\n  - advance: ${a}s\n", "3:14: ${a} is not a parameter: there is no `each`", false},
    {"scenario: x\neach: {a: [1, 1]}\nsteps: []\n", "1:1: two scenarios of the file are called x [a=1]",
     false},
    {"scenario: x\neach: {a: [1]}\nsteps:\n  - advance: 1s\n    when: {b: 1}\n",
     "5:12: when: \"b\" is not a parameter of `each`", false},
    // Steps.
    {"scenario: x\nsteps: [advance]\n", "2:9: a step is a mapping"},
    {"scenario: x\nsteps:\n  - advnace: 1s\n",
     "3:5: the step has no verb, \"advnace\" is not one (did you mean advance?)"},
    {"scenario: x\nsteps:\n  - advance: 1s\n    runUntilIdle: 1s\n",
     "3:5: a step has one verb, and this one has advance or runUntilIdle: make it several"},
    {"scenario: x\nsteps:\n  - advance: 10 parsecs\n",
     "3:14: time: unknown unit \" parsecs\" in duration \"10 parsecs\": write a duration like 90s or 1h30m"},
    {"scenario: x\nsteps:\n  - advance: -1s\n", "3:14: the duration goes back in time"},
    {"scenario: x\nsteps:\n  - advance: 1s\n    refused: {code: 400}\n",
     "4:5: unknown key \"refused\" in the step advance: it has advance, name or when"},
    {"scenario: x\nsteps:\n  - scale: deployment/web\n",
     "3:5: the step scale needs replicas: how many there are to be"},
    {"scenario: x\nsteps:\n  - scale: deployment/web\n    replicas: three\n",
     "4:15: \"three\" is not a whole number"},
    {"scenario: x\nsteps:\n  - scale: pod/web\n    replicas: 3\n", "3:12: pods cannot be scaled", false},
    {"scenario: x\nsteps:\n  - delete: gizmo/web\n",
     "3:13: unknown kind \"gizmo\": write KIND/NAME or KIND, like deployment/web or pods"},
    {"scenario: x\nsteps:\n  - delete: node/a\n    namespace: b\n", "4:16: nodes have no namespace", false},
    {"scenario: x\nsteps:\n  - delete: pod/a\n    selector: app=a\n",
     "4:5: selector goes with a kind without a name, like pods", false},
    {"scenario: x\nsteps:\n  - delete: pods\n    selector: a=b=c\n",
     "4:15: found '=', expected: ',' or 'end of string'", false},
    {"scenario: x\nsteps:\n  - hold: pod/a\n    at: sunset\n",
     "4:9: \"sunset\" is not where to hold: write ready or terminating"},
    {"scenario: x\nsteps:\n  - hold: deployment/a\n    at: ready\n", "3:11: hold is for pods only", false},
    {"scenario: x\nsteps:\n  - apply: {apiVersion: v1, kind: Deployment}\n",
     "3:12: no kind \"Deployment\" in v1 is served", false},
    {"scenario: x\nsteps:\n  - apply:\n      apiVersion: v1\n      kind: Pod\n      metadata: {name: a}\n"
     "      spec: {restartpolicy: Never}\n",
     "7:14: PodSpec has no field \"restartpolicy\" (did you mean restartPolicy?)", false},
    {"scenario: x\nsteps:\n  - patch: pod/a\n    with: []\n",
     "4:11: a list of operations is a patch of type json", false},
    {"scenario: x\nsteps:\n  - runUntil: pods\n    for: delete\n    within: 1m\n",
     "3:15: runUntil checks one object: write KIND/NAME, or expect with eventually for several", false},
    {"scenario: x\nsteps:\n  - runUntil: pod/a\n    for: condition\n    within: 1m\n",
     "4:10: condition \"condition\": write create, delete, condition=NAME[=VALUE] or "
     "jsonpath={.path}[=VALUE]",
     false},
    {"scenario: x\nsteps:\n  - crashComponent: kublet\n",
     "3:21: \"kublet\" is not a component (did you mean kubelet?)"},
    {"scenario: x\nsteps:\n  - setGates: {PodDeletionCost: false}\n    components: [kubelet, controllers]\n",
     "4:27: \"controllers\" is not a component"},
    {"scenario: x\nsteps:\n  - setGates: {NoSuchGate: true}\n", "3:16: unknown feature gate \"NoSuchGate\""},
    // Expectations.
    {"scenario: x\nsteps:\n  - expect: deployment/web\n    match: {status: {readyReplicas: \"3\"}}\n",
     "4:37: readyReplicas is a whole number", false},
    {"scenario: x\nsteps:\n  - expect: deployment/web\n    match: {status: {readyReplicas: {atLeast: "
     "many}}}\n",
     "4:37: atLeast takes a number", false},
    {"scenario: x\nsteps:\n  - expect: pods\n    count: {atLeast: 1, most: 2}\n",
     "4:25: unknown key \"most\" in a comparison: it has atLeast or atMost"},
    {"scenario: x\nsteps:\n  - expect: pod/a\n    count: 1\n",
     "4:5: count goes with a kind without a name, like pods", false},
    {"scenario: x\nsteps:\n  - expect: pods\n    absent: true\n",
     "4:5: absent goes with KIND/NAME; for several write count: 0", false},
    {"scenario: x\nsteps:\n  - expect: pods\n    always: 1m\n    never: 1m\n",
     "5:5: an expectation has one of eventually, always or never", false},
    {"scenario: x\nsteps:\n  - expect: pods\n    eventually: end\n",
     "4:17: time: invalid duration \"end\": write a duration like 90s or 1h30m"},
    {"scenario: x\nsteps:\n  - expectMetric: a\n    increase: 1\n", "4:15: increase and since go together",
     false},
    {"scenario: x\nsteps:\n  - expectMetric: a\n    increase: 1\n    since: b\n",
     "5:12: no step before this one has the name \"b\"", false},
    {"scenario: x\nsteps:\n  - {name: a, advance: 1s}\n  - {name: a, advance: 1s}\n",
     "4:12: another step has that name already", false},
};

}  // namespace terrarium::testbed::scenario
