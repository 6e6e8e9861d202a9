#!/usr/bin/env node
// Removes the shards of a game on which the fewest players would be thrown out.
//
// Story 2 of KEP-3189. Each shard says who is on it whenever that changes, by PUT /shards/POD with a body like
// {"players": 7, "premium": 2}, and the picker keeps that in memory. Players who pay count three times. A shard that
// has said nothing is empty.

import { leastBusy, options, serve } from "./pod_picker.mjs";

const PREMIUM_WEIGHT = 3;
const load = new Map();

serve(options(), (pods, wanted) => leastBusy(new Map(pods.map((pod) => [pod, load.get(pod) ?? 0])), wanted), {
  "PUT /shards/": (pod, { players, premium = 0 }) => {
    load.set(pod, players - premium + premium * PREMIUM_WEIGHT);
    return { pod, load: load.get(pod) };
  },
});
