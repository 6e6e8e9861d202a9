// Shared by the tests: clients from the server's kubeconfig, a namespace for every test, a connection that can be cut.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import {
  AppsV1Api,
  BatchV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  setHeaderOptions,
} from '@kubernetes/client-node';

export const waitMaxMs = 20_000;
export const serverUrl = process.env.TERRARIUM_URL;

export const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(process.env.KUBECONFIG);
export const core = kubeConfig.makeApiClient(CoreV1Api);
export const apps = kubeConfig.makeApiClient(AppsV1Api);
export const batch = kubeConfig.makeApiClient(BatchV1Api);
export const objects = KubernetesObjectApi.makeApiClient(kubeConfig);

export async function newNamespace() {
  const made = await core.createNamespace({ body: { metadata: { generateName: 'js-' } } });
  return made.metadata.name;
}

/** Drops the server's history before the current revision, so that older reads are 410. */
export async function compact() {
  const response = await fetch(`${serverUrl}/terrarium/v1/store/compact`, { method: 'POST' });
  assert.equal(response.status, 200);
  await response.json();
}

/** The Status with which the server refused a call. */
export async function refusal(code, reason, call) {
  const error = await call.then(
    () => assert.fail('the call succeeded'),
    (error) => error,
  );
  assert.equal(error.code, code, String(error));
  const body = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
  assert.deepEqual([body.kind, body.reason, body.code], ['Status', reason, code]);
  return body;
}

export const withPatchType = (type) => setHeaderOptions('Content-Type', type);

/** A queue of events; `next` waits for one, no longer than waitMaxMs. */
export class Happenings {
  #waiting = [];
  #come = [];

  push(value) {
    const waiter = this.#waiting.shift();
    if (waiter) waiter(value);
    else this.#come.push(value);
  }

  async next(what) {
    if (this.#come.length) return this.#come.shift();
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`waited in vain: ${what}`)), waitMaxMs);
    });
    try {
      return await Promise.race([new Promise((resolve) => this.#waiting.push(resolve)), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A relay in front of the server that can be cut and mended, as a bad network is. */
export class Line {
  #sockets = new Set();
  #cut = false;

  static async open() {
    const line = new Line();
    const { hostname, port } = new URL(serverUrl);
    line.server = net.createServer((client) => {
      if (line.#cut) return client.destroy();
      const upstream = net.connect(Number(port), hostname);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ]) {
        line.#sockets.add(from);
        from.pipe(to);
        from.on('error', () => {});
        from.on('close', () => {
          line.#sockets.delete(from);
          to.destroy();
        });
      }
    });
    line.server.listen(0, '127.0.0.1');
    await once(line.server, 'listening');
    return line;
  }

  /** A configuration whose requests take this line. */
  kubeConfig() {
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'line', server: `http://127.0.0.1:${this.server.address().port}`, skipTLSVerify: true }],
      users: [{ name: 'nobody' }],
      contexts: [{ name: 'line', cluster: 'line', user: 'nobody' }],
      currentContext: 'line',
    });
    return config;
  }

  cut() {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend() {
    this.#cut = false;
  }

  close() {
    this.cut();
    this.server.close();
  }
}

export const configMap = (name, data = {}, labels = {}) => ({ metadata: { name, labels }, data });

export const pod = (name, spec = {}) => ({
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'example.test/app:1' }], ...spec },
});

export const deployment = (name, replicas = 3) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: pod(name).spec },
  },
});
