// Typed calls, patches, errors, and the generic object client.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { PatchStrategy } from '@kubernetes/client-node';
import {
  apps,
  batch,
  configMap,
  core,
  deployment,
  newNamespace,
  objects,
  pod,
  refusal,
  withPatchType,
} from './suite.mjs';

let namespace;
beforeEach(async () => {
  namespace = await newNamespace();
});

test('a deployment lives', async () => {
  const made = await apps.createNamespacedDeployment({ namespace, body: deployment('shop') });
  assert.equal(made.metadata.generation, 1);
  assert.equal(made.spec.progressDeadlineSeconds, 600);
  assert.ok(made.metadata.creationTimestamp instanceof Date);

  made.spec.replicas = 5;
  const changed = await apps.replaceNamespacedDeployment({ name: 'shop', namespace, body: made });
  assert.deepEqual([changed.spec.replicas, changed.metadata.generation], [5, 2]);

  changed.spec.replicas = 9;
  changed.status = { observedGeneration: 2, replicas: 5 };
  const withStatus = await apps.replaceNamespacedDeploymentStatus({ name: 'shop', namespace, body: changed });
  assert.deepEqual([withStatus.spec.replicas, withStatus.status.replicas], [5, 5]);
  assert.deepEqual(await apps.readNamespacedDeployment({ name: 'shop', namespace }), withStatus);

  const answer = await apps.deleteNamespacedDeployment({ name: 'shop', namespace });
  assert.equal(answer.status, 'Success');
  await refusal(404, 'NotFound', apps.readNamespacedDeployment({ name: 'shop', namespace }));
});

test('a job and its defaults', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: pod('x').spec.containers } };
  const made = await batch.createNamespacedJob({
    namespace,
    body: { metadata: { generateName: 'once-' }, spec: { template } },
  });
  assert.match(made.metadata.name, /^once-[a-z0-9]{5}$/);
  assert.deepEqual([made.spec.backoffLimit, made.spec.completions, made.spec.parallelism], [6, 1, 1]);
});

test('a scheduled pod is given its grace period', async () => {
  await core.createNamespacedPod({ namespace, body: pod('one', { nodeName: 'somewhere' }) });
  const dying = await core.deleteNamespacedPod({ name: 'one', namespace, gracePeriodSeconds: 9 });
  assert.equal(dying.metadata.deletionGracePeriodSeconds, 9);
  await core.deleteNamespacedPod({ name: 'one', namespace, gracePeriodSeconds: 0 });
  await refusal(404, 'NotFound', core.readNamespacedPod({ name: 'one', namespace }));
});

test('bytes of a secret survive', async () => {
  const data = { bytes: Buffer.from([0, 255, 7]).toString('base64') };
  await core.createNamespacedSecret({
    namespace,
    body: { metadata: { name: 's' }, data, stringData: { text: 'swordfish' } },
  });
  const stored = await core.readNamespacedSecret({ name: 's', namespace });
  assert.deepEqual(stored.data, { ...data, text: Buffer.from('swordfish').toString('base64') });
});

test('lists: selectors and pages', async () => {
  for (const [name, colour] of [
    ['a', 'red'],
    ['b', 'blue'],
    ['c', 'red'],
    ['d', 'red'],
  ]) {
    await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}, { colour }) });
  }
  const names = (list) => list.items.map((item) => item.metadata.name);
  assert.deepEqual(names(await core.listNamespacedConfigMap({ namespace, labelSelector: 'colour in (red)' })), [
    'a',
    'c',
    'd',
  ]);
  assert.deepEqual(names(await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=b' })), ['b']);
  const first = await core.listNamespacedConfigMap({ namespace, limit: 3 });
  assert.deepEqual([names(first), first.metadata.remainingItemCount], [['a', 'b', 'c'], 1]);
  const second = await core.listNamespacedConfigMap({ namespace, limit: 3, _continue: first.metadata._continue });
  assert.deepEqual(names(second), ['d']);
});

describe('patches', () => {
  const proxy = { spec: { template: { spec: { containers: [{ name: 'proxy', image: 'p:1' }] } } } };
  const patch = (body, type) =>
    apps.patchNamespacedDeployment({ name: 'shop', namespace, body }, type && withPatchType(type));
  const containers = (item) => item.spec.template.spec.containers.map((container) => container.name);
  beforeEach(() => apps.createNamespacedDeployment({ namespace, body: deployment('shop') }));

  test('strategic merges containers by name', async () => {
    assert.deepEqual(containers(await patch(proxy, PatchStrategy.StrategicMergePatch)), ['proxy', 'main']);
  });

  test('merge replaces the list', async () => {
    assert.deepEqual(containers(await patch(proxy, PatchStrategy.MergePatch)), ['proxy']);
  });

  test('by default the library sends a list of operations', async () => {
    const patched = await patch([{ op: 'replace', path: '/spec/replicas', value: 7 }]);
    assert.equal(patched.spec.replicas, 7);
  });

  test('the scale subresource', async () => {
    await apps.patchNamespacedDeploymentScale(
      { name: 'shop', namespace, body: { spec: { replicas: 4 } } },
      withPatchType(PatchStrategy.MergePatch),
    );
    assert.equal((await apps.readNamespacedDeploymentScale({ name: 'shop', namespace })).spec.replicas, 4);
  });
});

describe('errors are Statuses', () => {
  test('already there', async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap('one') });
    const body = await refusal(
      409,
      'AlreadyExists',
      core.createNamespacedConfigMap({ namespace, body: configMap('one') }),
    );
    assert.equal(body.message, 'configmaps "one" already exists');
  });

  test('conflict', async () => {
    const stale = await core.createNamespacedConfigMap({ namespace, body: configMap('one') });
    await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...stale, data: { a: '1' } } });
    const body = await refusal(
      409,
      'Conflict',
      core.replaceNamespacedConfigMap({ name: 'one', namespace, body: stale }),
    );
    assert.match(body.message, /the object has been modified; please apply your changes to the latest version/);
  });

  test('invalid', async () => {
    const body = await refusal(
      422,
      'Invalid',
      apps.createNamespacedDeployment({ namespace, body: deployment('shop', -1) }),
    );
    assert.deepEqual(
      body.details.causes.map((cause) => cause.field),
      ['spec.replicas'],
    );
  });

  test('an unknown field is dropped', async () => {
    const body = { ...configMap('one'), date: { a: '1' } };
    // The typed call drops unknown fields; the generic client sends them.
    await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', ...body, metadata: { ...body.metadata, namespace } });
    assert.equal((await core.readNamespacedConfigMap({ name: 'one', namespace })).date, undefined);
  });
});

test('the client of any object', async () => {
  const spec = { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment('shop') };
  spec.metadata.namespace = namespace;
  const made = await objects.create(spec);
  assert.equal(made.spec.replicas, 3);
  const read = await objects.read(spec);
  assert.equal(read.metadata.uid, made.metadata.uid);
  await objects.patch(
    { ...spec, spec: { replicas: 6 } },
    undefined,
    undefined,
    undefined,
    undefined,
    PatchStrategy.MergePatch,
  );
  const listed = await objects.list('apps/v1', 'Deployment', namespace);
  assert.deepEqual(
    listed.items.map((item) => item.spec.replicas),
    [6],
  );
  const current = await objects.read(spec);
  current.spec.replicas = 2;
  assert.equal((await objects.replace(current)).spec.replicas, 2);
  await objects.delete(spec);
  await refusal(404, 'NotFound', objects.read(spec));
});
