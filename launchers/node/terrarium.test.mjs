// The launcher itself, with nothing but Node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ControlError, TerrariumError, start } from './terrarium.mjs';

let server;
before(async () => {
  server = await start();
});
after(() => server.stop());

async function send(method, url, body) {
  const response = await fetch(url, {
    method,
    body: body && JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
  assert.ok(response.ok, `${method} ${url}: ${response.status}`);
  return response.json();
}

function makePod(cluster, name, annotations = {}) {
  const body = { metadata: { name, annotations }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  return send('POST', `${cluster.url}/api/v1/namespaces/default/pods`, body);
}

function isGone(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

describe('a server', () => {
  test('has the settings of its options and ends with stop()', async () => {
    const own = await start({ clock: 'auto', nodes: 1, seed: 7, featureGates: { DownscalePodPicker: true } });
    assert.equal((await own.clock()).mode, 'auto');
    assert.ok((await own.featureGates('kubelet')).DownscalePodPicker);
    assert.ok(readFileSync(own.kubeconfig, 'utf8').includes(own.url));
    await own.stop();
    assert.ok(isGone(own.pid));
    await own.stop();
  });

  test('ends when its process is killed', async () => {
    const launcher = JSON.stringify(new URL('./terrarium.mjs', import.meta.url).href);
    const program = `import { start } from ${launcher}; console.log((await start()).pid); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(String((await once(child.stdout, 'data'))[0]));
    assert.ok(!isGone(pid));
    child.kill('SIGKILL');
    for (const giveUp = Date.now() + 20_000; !isGone(pid); await pause(5)) assert.ok(Date.now() < giveUp, 'still there');
  });

  test('that is not stopped does not keep the process from ending', async () => {
    const launcher = JSON.stringify(new URL('./terrarium.mjs', import.meta.url).href);
    const program = `import { start } from ${launcher}; console.log((await start()).pid);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(String((await once(child.stdout, 'data'))[0]));
    if (child.exitCode === null) await once(child, 'exit');
    for (const giveUp = Date.now() + 20_000; !isGone(pid); await pause(5)) assert.ok(Date.now() < giveUp, 'still there');
  });

  test('that does not start reports why', async () => {
    await assert.rejects(start({ featureGates: { Bogus: true } }), (error) => {
      assert.ok(error instanceof TerrariumError);
      assert.match(error.message, /ended with 2 before it was ready\n.*--feature-gates.*Bogus/s);
      return true;
    });
    await assert.rejects(start({ binary: '/nowhere/terrarium' }), /\/nowhere\/terrarium is not a program/);
    const { TERRARIUM, PATH } = process.env;
    try {
      delete process.env.TERRARIUM;
      process.env.PATH = '/nowhere';
      await assert.rejects(start(), /TERRARIUM/);
    } finally {
      Object.assign(process.env, { TERRARIUM, PATH });
    }
  });

  test('that takes too long is given up', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'slow-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const slow = join(folder, 'slow');
    writeFileSync(slow, '#!/bin/sh\necho thinking >&2\nexec cat\n');
    chmodSync(slow, 0o755);
    await assert.rejects(start({ binary: slow, startTimeout: 300 }), /not ready after 300 ms\nthinking/);
  });
});

describe('a cluster', () => {
  test('has a clock that is moved', async (t) => {
    const cluster = await server.cluster(t);
    await makePod(cluster, 'web', { 'terrarium.dev/start-delay': '40s' });
    assert.equal((await cluster.runUntil('pods', 'web', 'condition=Ready', { limit: '1m' })).advanced, '40s');
    await cluster.runUntilIdle();
    assert.equal((await cluster.advance('1h30s')).advanced, '1h0m30s');
    assert.equal((await cluster.advance(1500)).advanced, '1.5s');
    const late = cluster.runUntil('pods', 'web', 'delete', { limit: '1m' });
    await assert.rejects(late, /pods default\/web, delete: the clock stopped with deadline after 1m0s/);
    await cluster.setClock('real');
    await assert.rejects(cluster.advance('1s'), (error) => error instanceof ControlError && error.code === 400);
  });

  test('has pods, nodes and rules', async (t) => {
    const cluster = await server.cluster(t, { nodes: 1 });
    await cluster.addRule({ name: 'slow', namespace: 'default', script: { 'start-delay': '10s' } });
    await makePod(cluster, 'web');
    assert.equal((await cluster.runUntil('pods', 'web', 'condition=Ready')).advanced, '10s');
    await cluster.deleteRule('slow');
    await cluster.holdPod('web', 'terminating');
    await send('DELETE', `${cluster.url}/api/v1/namespaces/default/pods/web`);
    await cluster.advance('1h');
    await cluster.releasePod('web', { outcome: { exitCode: 0 } });
    await cluster.runUntil('pods', 'web', 'delete', { limit: '1m' });

    await makePod(cluster, 'two');
    await cluster.runUntil('pods', 'two', 'condition=Ready');
    await cluster.crashContainer('two', 'c', { exitCode: 3 });
    await cluster.runUntil('pods', 'two', 'jsonpath={.status.containerStatuses[0].restartCount}=1', { limit: '1m' });
    await cluster.failPod('two');
    await cluster.runUntil('pods', 'two', 'jsonpath={.status.phase}=Failed', { limit: '1m' });
    await assert.rejects(cluster.evictPod('two'), (error) => error.code === 409);

    await cluster.failNode('node-0');
    await cluster.runUntil('nodes', 'node-0', 'condition=Ready=Unknown', { namespace: null, limit: '5m' });
    await cluster.recoverNode('node-0');
    await cluster.runUntil('nodes', 'node-0', 'condition=Ready', { namespace: null, limit: '5m' });
    await cluster.compact();
  });

  test('reports why', async (t) => {
    const cluster = await server.cluster(t);
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await send('POST', `${cluster.url}/apis/apps/v1/namespaces/default/replicasets`, { metadata: { name: 'web' }, spec });
    await cluster.runUntilIdle();
    const records = await cluster.why('replicasets', 'web');
    assert.deepEqual(
      records.map((record) => [record.action, record.resource]),
      [['create', 'pods'], ['create', 'pods']],
    );
    const everything = await cluster.why();
    assert.deepEqual(
      everything.filter((record) => record.resource === 'pods'),
      records,
    );
    assert.ok(everything.some((record) => record.name === 'kube-root-ca.crt'));
  });

  test('is alone, and gone when its test has ended', async (t) => {
    await t.test('inner', async (inner) => {
      const cluster = await server.cluster(inner, { name: 'mine', kubeletFeatureGates: { PodDeletionCost: false } });
      assert.deepEqual(await server.clusters(), ['mine']);
      assert.equal((await cluster.featureGates('kubelet')).PodDeletionCost, false);
      assert.equal((await cluster.featureGates('apiserver')).PodDeletionCost, true);
      await assert.rejects(server.cluster({ name: 'mine' }), (error) => error.code === 409);
    });
    assert.deepEqual(await server.clusters(), []);
  });

  test('has components that are stopped, and gates that are switched', async (t) => {
    const cluster = await server.cluster(t);
    await cluster.setFeatureGates('controller-manager', { PodDeletionCost: false });
    assert.equal((await cluster.featureGates('controller-manager')).PodDeletionCost, false);
    await cluster.stopComponent('scheduler');
    await makePod(cluster, 'web');
    await assert.rejects(cluster.runUntil('pods', 'web', 'condition=Ready', { limit: '1m' }), /deadline/);
    await cluster.startComponent('scheduler');
    await cluster.runUntil('pods', 'web', 'condition=Ready', { limit: '1m' });
    await cluster.crashComponent('kubelet');
    await cluster.startComponent('kubelet');
    await cluster.restartComponent('apiserver');
  });
});
