// Starts a Terrarium server for a test suite. The server ends with the suite, even if that crashes.
//
//   import { after, test } from 'node:test';
//   import { start } from './terrarium.mjs';
//
//   const server = await start({ clock: 'virtual' });
//   after(() => server.stop());
//
//   test('a rollout', async (t) => {
//     const cluster = await server.cluster(t);
//     kubeConfig.loadFromFile(cluster.kubeconfig);
//     await cluster.advance('30s');
//   });
//
// One server serves a whole suite. Each test creates its own cluster on it, which takes milliseconds. This file needs
// only Node 18 or newer.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const startTimeoutMs = 30_000;
const stopTimeoutMs = 20_000;
const logTail = 4000;

/** The server did not start, did not exit with 0, or a clock move had another outcome than expected. */
export class TerrariumError extends Error {}

/** An error response of the control API, with its code and reason. */
export class ControlError extends TerrariumError {
  constructor(code, reason, message) {
    super(`${message} (${code} ${reason})`);
    this.code = code;
    this.reason = reason;
  }
}

/** A client of the control API of one cluster: docs/control-api.md. `kubeconfig` is the path of a file. */
export class ControlPlane {
  constructor(url, kubeconfig) {
    this.url = url;
    this.kubeconfig = kubeconfig;
  }

  /** Sends one request to the control API, `path` below /terrarium/v1, and returns the response. */
  async call(method, path, body) {
    const response = await fetch(`${this.url}/terrarium/v1${path}`, {
      method,
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new ControlError(response.status, answer.reason, answer.message);
    return answer;
  }

  // -- the clock

  clock() {
    return this.call('GET', '/clock');
  }
  /** real, scaled=N, virtual or auto */
  setClock(mode) {
    return this.call('PUT', '/clock', { mode });
  }
  /** Moves a virtual clock forward ("90s", or milliseconds as a number); resolves when all work is done.
  */
  advance(duration) {
    return this.#move('/clock/advance', { duration: durationOf(duration) }, 'done');
  }
  /** Waits until all work that is due now is done. */
  settle() {
    return this.advance('0s');
  }
  /** Moves the clock until only housekeeping is left. */
  runUntilIdle(limit = '24h') {
    return this.#move('/clock/run-until-idle', { limit: durationOf(limit) }, 'idle');
  }
  /** Moves the clock until a condition holds, in the syntax of `kubectl wait --for`: create, delete, condition=Ready,
   *  jsonpath={.status.phase}=Running. `namespace` is null for cluster-scoped kinds. */
  runUntil(resource, name, condition, { namespace = 'default', limit = '24h' } = {}) {
    const body = { resource, name, namespace: namespace ?? undefined, for: condition, limit: durationOf(limit) };
    return this.#move('/clock/run-until', body, 'done', `${resource} ${namespace ?? ''}/${name}, ${condition}: `);
  }
  async #move(path, body, wanted, about = '') {
    const move = await this.call('POST', path, body);
    if (move.outcome === wanted) return move;
    throw new TerrariumError(`${about}the clock stopped with ${move.outcome} after ${move.advanced}, at ${move.now}`);
  }

  // -- pods and nodes

  /** Adds a script for pods without one of their own: docs/pod-scripts.md. {name, script, selector, namespace} */
  addRule(rule) {
    return this.call('POST', '/pods/rules', rule);
  }
  deleteRule(name) {
    return this.call('DELETE', `/pods/rules/${name}`);
  }
  /** Holds a pod at a point: ready or terminating. */
  holdPod(pod, point, namespace = 'default') {
    return this.call('POST', '/pods/hold', { namespace, pod, point });
  }
  /** Releases a pod from all points, or from `point`; with {outcome: {exitCode: 0}} it ends with that code. */
  releasePod(pod, { namespace = 'default', ...more } = {}) {
    return this.call('POST', '/pods/release', { namespace, pod, ...more });
  }
  crashContainer(pod, container, { exitCode = 137, namespace = 'default' } = {}) {
    return this.call('POST', '/pods/crash', { namespace, pod, container, exitCode });
  }
  failPod(pod, { exitCode = 1, namespace = 'default' } = {}) {
    return this.call('POST', '/pods/fail', { namespace, pod, exitCode });
  }
  /** Evicts a pod as under node pressure. */
  evictPod(pod, namespace = 'default') {
    return this.call('POST', '/pods/evict', { namespace, pod });
  }
  failNode(name) {
    return this.call('POST', `/nodes/${name}/fail`);
  }
  recoverNode(name) {
    return this.call('POST', `/nodes/${name}/recover`);
  }

  // -- components: apiserver, controller-manager, scheduler, kubelet

  featureGates(component) {
    return this.call('GET', `/components/${component}/feature-gates`);
  }
  /** Changes some gates of the component and restarts it. */
  setFeatureGates(component, gates) {
    return this.call('PUT', `/components/${component}/feature-gates`, gates);
  }
  stopComponent(name) {
    return this.call('POST', `/components/${name}/stop`);
  }
  startComponent(name) {
    return this.call('POST', `/components/${name}/start`);
  }
  restartComponent(name) {
    return this.call('POST', `/components/${name}/restart`);
  }
  crashComponent(name) {
    return this.call('POST', `/components/${name}/crash`);
  }

  // -- history

  /** Returns what the controllers did to an object or on its behalf, and why; without a name all records. */
  async why(resource, name, namespace = 'default') {
    const query = name === undefined ? '' : `?${new URLSearchParams({ resource, namespace, name })}`;
    return (await this.call('GET', `/why${query}`)).records;
  }
  /** Drops the history, so that requests for older revisions get 410. */
  compact() {
    return this.call('POST', '/store/compact');
  }
}

/** A separate cluster of a server. */
export class Cluster extends ControlPlane {
  #server;

  constructor(server, made, folder) {
    const path = join(folder, `${made.name}.kubeconfig`);
    writeFileSync(path, made.kubeconfig, { mode: 0o600 });
    super(made.url, path);
    this.#server = server;
    this.name = made.name;
    this.seed = made.seed;
  }

  async delete() {
    rmSync(this.kubeconfig, { force: true });
    await this.#server.call('DELETE', `/clusters/${this.name}`);
  }
}

/** A running server; its ControlPlane is the root cluster. It ends with stop(), or when this process ends. */
export class Server extends ControlPlane {
  #process;
  #folder;
  #exited;
  #stopped;

  constructor(ready, process, folder, exited) {
    super(ready.url.replace(/\/$/, ''), ready.kubeconfig);
    this.pid = ready.pid;
    this.#process = process;
    this.#folder = folder;
    this.#exited = exited;
  }

  /** Creates a cluster; unset settings default to those of the server. It is deleted at the end of the test `t`, if
  that
   *  is given: cluster(t), cluster(t, settings), cluster(settings). */
  async cluster(t, settings) {
    const test = typeof t?.after === 'function' ? t : undefined;
    const made = await this.call('POST', '/clusters', (test ? settings : t) ?? {});
    const cluster = new Cluster(this, made, this.#folder);
    test?.after(() => cluster.delete());
    return cluster;
  }

  /** The names of the clusters besides the root cluster. */
  async clusters() {
    return (await this.call('GET', '/clusters')).clusters.map((cluster) => cluster.name);
  }

  /** The end of the server's standard error. */
  log() {
    return readLog(this.#folder);
  }

  /** Ends the server; rejects if it did not exit with 0 in time. */
  stop() {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end() {
    let late = false;
    this.#process.ref();
    this.#process.stdin.end();
    const timer = setTimeout(() => {
      late = true;
      this.#process.kill('SIGKILL');
    }, stopTimeoutMs);
    const code = await this.#exited;
    clearTimeout(timer);
    const log = this.log();
    rmSync(this.#folder, { recursive: true, force: true });
    if (late) throw new TerrariumError(`terrarium still ran ${stopTimeoutMs} ms after it was stopped\n${log}`);
    if (code !== 0) throw new TerrariumError(`terrarium ended with ${code} instead of 0\n${log}`);
  }
}

/**
 * Starts a server. `binary` is the program to run; by default the one that the environment variable TERRARIUM names, or
 * terrarium on the PATH. `settings` are those of a cluster (clock, seed, nodes, featureGates,
 * controllerManagerFeatureGates, kubeletFeatureGates, controllers, kubelet, scheduler, podDefaults, eventTtl,
 * enableAdmissionPlugins, disableAdmissionPlugins, data); they are the defaults of other clusters. `flags` are further flags of `terrarium serve`.
 */
export async function start({ binary, flags = [], startTimeout = startTimeoutMs, ...settings } = {}) {
  const program = findBinary(binary);
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-'));
  const log = openSync(join(folder, 'log'), 'w');
  const given = flagsOf({ clock: 'virtual', ...settings });
  const ready = join(folder, 'ready');
  const files = [`--ready-file=${ready}`, `--kubeconfig=${join(folder, 'kubeconfig')}`];
  // The server ends when its standard input is closed, also by the end of this process.
  const child = spawn(program, ['serve', '--port=0', ...files, '--exit-on-stdin-close', ...given, ...flags], {
    stdio: ['pipe', 'pipe', log],
  });
  closeSync(log);
  const exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal));
    child.once('error', (error) => resolve(String(error)));
  });
  try {
    await waitUntilReady(child, exited, folder, startTimeout);
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  // A suite that does not stop the server can still end, and the server ends with it.
  child.unref();
  child.stdin.unref();
  child.stdout.unref();
  return new Server(JSON.parse(readFileSync(ready, 'utf8')), child, folder, exited);
}

/** The server prints a line on standard output when it is ready, after it has written the ready file. */
function waitUntilReady(child, exited, folder, timeoutMs) {
  return new Promise((resolve, reject) => {
    const fail = (what) => reject(new TerrariumError(`terrarium ${what}\n${readLog(folder)}`));
    const timer = setTimeout(() => fail(`was not ready after ${timeoutMs} ms`), timeoutMs);
    exited.then((code) => {
      clearTimeout(timer);
      fail(`ended with ${code} before it was ready`);
    });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
      if (!output.includes('\n')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

function readLog(folder) {
  try {
    return readFileSync(join(folder, 'log'), 'utf8').slice(-logTail);
  } catch {
    return '';
  }
}

function findBinary(given) {
  const named = given || process.env.TERRARIUM;
  const places = named
    ? [named]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'terrarium'));
  for (const path of places) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not there
    }
  }
  throw new TerrariumError(
    named ? `${named} is not a program` : 'no terrarium on the PATH; name the program in TERRARIUM or as binary',
  );
}

function durationOf(value) {
  return typeof value === 'number' ? `${value}ms` : value;
}

function flagsOf(settings) {
  const text = (value) =>
    value !== null && typeof value === 'object'
      ? Object.entries(value).map(([name, item]) => `${name}=${item}`).join(',')
      : String(value);
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}=${text(value)}`);
}
