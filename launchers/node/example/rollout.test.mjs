// A Deployment's rollout and a pod's long termination, with @kubernetes/client-node, on a virtual clock.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { start } from '../terrarium.mjs'; // your own project has it beside its tests

let server;
before(async () => {
  server = await start();
});
after(() => server.stop());

/** A cluster of the test's own, and a client for it. */
async function newCluster(t, settings, Api) {
  const cluster = await server.cluster(t, settings);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(cluster.kubeconfig);
  return { cluster, client: kubeConfig.makeApiClient(Api) };
}

test('a rollout waits for slow pods', async (t) => {
  const { cluster, client } = await newCluster(t, { podDefaults: { 'ready-delay': '20s' } }, AppsV1Api);
  const labels = { app: 'shop' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'shop:1' }] } };
  await client.createNamespacedDeployment({
    namespace: 'default',
    body: { metadata: { name: 'shop' }, spec: { replicas: 3, selector: { matchLabels: labels }, template } },
  });
  const move = await cluster.runUntil('deployments', 'shop', 'condition=Available', { limit: '1m' });
  assert.equal(move.advanced, '20s'); // when the pods were ready
});

test('a pod that ignores SIGTERM has its half hour', async (t) => {
  const { cluster, client } = await newCluster(t, {}, CoreV1Api);
  await client.createNamespacedPod({
    namespace: 'default',
    body: {
      metadata: { name: 'drain', annotations: { 'terrarium.dev/ignore-sigterm': 'true' } },
      spec: { terminationGracePeriodSeconds: 1800, containers: [{ name: 'main', image: 'shop:1' }] },
    },
  });
  await cluster.runUntil('pods', 'drain', 'condition=Ready');
  await client.deleteNamespacedPod({ name: 'drain', namespace: 'default' });
  await cluster.advance('29m');
  const pod = await client.readNamespacedPod({ name: 'drain', namespace: 'default' });
  assert.ok(pod.metadata.deletionTimestamp);
  assert.equal((await cluster.runUntil('pods', 'drain', 'delete', { limit: '5m' })).advanced, '1m0s');
});
