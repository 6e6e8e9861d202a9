#!/usr/bin/env node
// Removes the shards of a game with the fewest players.
//
// Story 2 of KEP-3189. Each shard reports its players whenever they change, by PUT /shards/POD with a body like
// {"players": 7, "premium": 2}, and the picker keeps that in memory. Premium players count three times. A shard without
// a report is empty.

import { leastBusy, options, serve } from "./pod_picker.mjs";

const PREMIUM_WEIGHT = 3;
const load = new Map();

serve(options(), (pods, wanted) => leastBusy(new Map(pods.map((pod) => [pod, load.get(pod) ?? 0])), wanted), {
  "PUT /shards/": (pod, { players, premium = 0 }) => {
    load.set(pod, players - premium + premium * PREMIUM_WEIGHT);
    return { pod, load: load.get(pod) };
  },
});
