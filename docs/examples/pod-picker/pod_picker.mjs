// The code that the pickers in JavaScript share: the choice of pods, and the HTTP server. No dependencies.

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { parseArgs } from "node:util";

// Returns {chosen, tied} for a Map from pod to load, of which `wanted` are to be deleted. Pods with equal load of which
// only some are deleted are tied: Kubernetes decides between them by its other criteria.
export function leastBusy(busy, wanted) {
  const order = [...busy.keys()].sort((a, b) => busy.get(a) - busy.get(b) || (a < b ? -1 : 1));
  if (wanted >= order.length) return { chosen: order, tied: [] };
  const limit = busy.get(order[wanted - 1]);
  const below = order.filter((pod) => busy.get(pod) < limit);
  const level = order.filter((pod) => busy.get(pod) === limit);
  return below.length + level.length === wanted
    ? { chosen: [...below, ...level], tied: [] }
    : { chosen: below, tied: level };
}

// The values of --port, --tls-cert and --tls-key, and of further string options.
export function options(more = {}) {
  const text = { type: "string" };
  const defaults = { port: "0", ...more };
  const names = ["port", "tls-cert", "tls-key", ...Object.keys(more)];
  return { ...defaults, ...parseArgs({ options: Object.fromEntries(names.map((name) => [name, text])) }).values };
}

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

// Serves POST /pick with `pick(pods, wanted)`, which returns {chosen, tied}, and prints its port. `others` has more
// handlers by "METHOD /path"; a path with a trailing slash covers all paths below it. They get the rest of the path and
// the body. With PICKER_TOKEN in the environment, requests must have it as their bearer token.
export function serve(given, pick, others = {}) {
  const token = process.env.PICKER_TOKEN;
  const handlers = {
    "POST /pick": async (_, body) => {
      const { chosen, tied } = await pick(body.candidate_pods, body.number_of_pods_requested);
      return { chosen_pods: chosen, tied_pods: tied };
    },
    ...others,
  };

  async function answer(request) {
    const known = !token || request.headers.authorization === `Bearer ${token}`;
    if (!known) return [401, { error: "a bearer token is needed" }];
    const asked = `${request.method} ${request.url}`;
    const key = Object.keys(handlers).find((each) => each === asked || (each.endsWith("/") && asked.startsWith(each)));
    if (key === undefined) return [404, { error: `one of ${Object.keys(handlers).join(", ")}` }];
    return [200, await handlers[key](asked.slice(key.length), await bodyOf(request))];
  }

  async function handle(request, response) {
    const [code, document] = await answer(request).catch((error) => [500, { error: String(error) }]);
    response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(document));
  }

  const secure = given["tls-cert"];
  const server = secure
    ? https.createServer({ cert: readFileSync(secure), key: readFileSync(given["tls-key"]) }, handle)
    : http.createServer(handle);
  server.listen(Number(given.port), "127.0.0.1", () => console.log(server.address().port));
}
