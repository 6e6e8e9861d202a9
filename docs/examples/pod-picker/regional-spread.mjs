#!/usr/bin/env node
// Removes pods so that the remaining ones are spread evenly over the regions.
//
// Story 4 of KEP-3189. A pod's region is that of its node, read from the API at KUBERNETES_URL. It repeatedly removes a
// pod from the region with the most pods; of several such regions, and within a region, the pod with the least work, by
// its annotation example.com/active-requests.

import { options, serve } from "./pod_picker.mjs";

const REGION = "topology.kubernetes.io/region";
const WORK = "example.com/active-requests";
const url = process.env.KUBERNETES_URL;
const namespace = process.env.NAMESPACE ?? "default";

async function list(path) {
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(2000) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()).items;
}

serve(options(), async (candidates, wanted) => {
  const [pods, nodes] = await Promise.all([list(`/api/v1/namespaces/${namespace}/pods`), list("/api/v1/nodes")]);
  const regionOf = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[REGION] ?? ""]));
  const regions = new Map();
  for (const { metadata, spec } of pods) {
    if (!candidates.includes(metadata.name)) continue;
    const region = regionOf.get(spec.nodeName);
    const work = Number(metadata.annotations?.[WORK] ?? 0);
    regions.set(region, [...(regions.get(region) ?? []), { name: metadata.name, work }]);
  }
  for (const members of regions.values()) members.sort((a, b) => a.work - b.work || (a.name < b.name ? -1 : 1));
  const chosen = [];
  for (;;) {
    const most = Math.max(0, ...[...regions.values()].map((members) => members.length));
    if (chosen.length === wanted || most === 0) break;
    const fullest = [...regions.values()].filter((members) => members.length === most);
    fullest.sort((a, b) => a[0].work - b[0].work || (a[0].name < b[0].name ? -1 : 1));
    chosen.push(fullest[0].shift().name);
  }
  return { chosen, tied: [] };
});
