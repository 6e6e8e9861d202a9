#!/usr/bin/env node
// Removes the pods with the lowest load, read from a JSON file: {"POD": 3, ...}. A pod that is not listed is idle.

import { existsSync, readFileSync } from "node:fs";

import { leastBusy, options, serve } from "./pod_picker.mjs";

const given = options({ busy: "busy.json" });

serve(given, (pods, wanted) => {
  const known = existsSync(given.busy) ? JSON.parse(readFileSync(given.busy, "utf8")) : {};
  return leastBusy(new Map(pods.map((pod) => [pod, known[pod] ?? 0])), wanted);
});
