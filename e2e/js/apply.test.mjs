// Server-side apply: typed calls, the generic object client, the owners of other writes.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { PatchStrategy } from '@kubernetes/client-node';
import { apps, configMap, core, deployment, newNamespace, objects, refusal, withPatchType } from './suite.mjs';

let namespace;
beforeEach(async () => {
  namespace = await newNamespace();
});

const settings = (data) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace },
  data,
});
const apply = (data, fieldManager = 'me', options = {}) =>
  core.patchNamespacedConfigMap(
    { name: 'settings', namespace, body: settings(data), fieldManager, ...options },
    withPatchType(PatchStrategy.ServerSideApply),
  );
const stored = () => core.readNamespacedConfigMap({ name: 'settings', namespace });

/** The sets of an object by "manager operation subresource". */
const owners = (item) =>
  Object.fromEntries(
    (item.metadata.managedFields ?? []).map((entry) => [
      [entry.manager, entry.operation, entry.subresource].filter(Boolean).join(' '),
      entry.fieldsV1,
    ]),
  );

describe('typed calls', () => {
  test('create, change and leave out', async () => {
    const made = await apply({ a: '1', b: '2' });
    assert.deepEqual(owners(made), { 'me Apply': { 'f:data': { 'f:a': {}, 'f:b': {} } } });
    assert.ok(made.metadata.managedFields[0].time instanceof Date);
    assert.equal((await apply({ a: '1', b: '2' })).metadata.resourceVersion, made.metadata.resourceVersion);
    assert.deepEqual((await apply({ b: '3' })).data, { b: '3' });
    assert.deepEqual((await stored()).data, { b: '3' });
  });

  test('conflict and force', async () => {
    await apply({ a: '1', b: '1' }, 'one');
    await core.patchNamespacedConfigMap(
      { name: 'settings', namespace, body: { data: { c: '1' } }, fieldManager: 'two' },
      withPatchType(PatchStrategy.MergePatch),
    );
    const body = await refusal(409, 'Conflict', apply({ a: '2', c: '2' }, 'three'));
    assert.equal(
      body.message,
      'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "two" using v1:\n- .data.c',
    );
    assert.deepEqual(body.details.causes.map((cause) => [cause.reason, cause.field, cause.message]).sort(), [
      ['FieldManagerConflict', '.data.a', 'conflict with "one"'],
      ['FieldManagerConflict', '.data.c', 'conflict with "two" using v1'],
    ]);
    const forced = await apply({ a: '2', c: '2' }, 'three', { force: true });
    assert.deepEqual(forced.data, { a: '2', b: '1', c: '2' });
    assert.deepEqual(owners(forced), {
      'one Apply': { 'f:data': { 'f:b': {} } },
      'three Apply': { 'f:data': { 'f:a': {}, 'f:c': {} } },
    });
  });

  test('a dry run stores nothing', async () => {
    assert.deepEqual((await apply({ a: '1' }, 'me', { dryRun: 'All' })).data, { a: '1' });
    await refusal(404, 'NotFound', stored());
  });

  test('a manager is required', async () => {
    const body = await refusal(422, 'Invalid', apply({ a: '1' }, 'me', { fieldManager: undefined }));
    assert.equal(
      body.message,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  });

  test('containers, status and scale', async () => {
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment('shop') };
    const options = withPatchType(PatchStrategy.ServerSideApply);
    await apps.patchNamespacedDeployment({ name: 'shop', namespace, body, fieldManager: 'one' }, options);
    const proxy = structuredClone(body);
    proxy.spec = { template: { spec: { containers: [{ name: 'proxy', image: 'p:1' }] } } };
    proxy.metadata = { name: 'shop' };
    const both = await apps.patchNamespacedDeployment(
      { name: 'shop', namespace, body: proxy, fieldManager: 'two' },
      options,
    );
    assert.deepEqual(
      both.spec.template.spec.containers.map((container) => container.name),
      ['main', 'proxy'],
    );
    assert.deepEqual(owners(both)['two Apply'], {
      'f:spec': {
        'f:template': {
          'f:spec': { 'f:containers': { 'k:{"name":"proxy"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
        },
      },
    });

    await apps.patchNamespacedDeploymentStatus(
      { name: 'shop', namespace, body: { ...proxy, spec: undefined, status: { replicas: 2 } }, fieldManager: 'keeper' },
      options,
    );
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'shop' }, spec: { replicas: 8 } };
    const request = { name: 'shop', namespace, body: scale, fieldManager: 'scaler' };
    const refused = await refusal(409, 'Conflict', apps.patchNamespacedDeploymentScale(request, options));
    assert.equal(refused.message, 'Apply failed with 1 conflict: conflict with "one": .spec.replicas');
    await apps.patchNamespacedDeploymentScale({ ...request, force: true }, options);
    const item = await apps.readNamespacedDeployment({ name: 'shop', namespace });
    assert.deepEqual([item.spec.replicas, item.status.replicas], [8, 2]);
    assert.deepEqual(owners(item)['scaler Apply scale'], { 'f:spec': { 'f:replicas': {} } });
    assert.deepEqual(owners(item)['keeper Apply status'], { 'f:status': { 'f:replicas': {} } });
  });
});

describe('the client of any object', () => {
  const applyObject = (data, fieldManager, force) =>
    objects.patch(settings(data), undefined, undefined, fieldManager, force, PatchStrategy.ServerSideApply);

  test('create, conflict and force', async () => {
    const made = await applyObject({ a: '1' }, 'one');
    assert.deepEqual(owners(made), { 'one Apply': { 'f:data': { 'f:a': {} } } });
    const body = await refusal(409, 'Conflict', applyObject({ a: '2' }, 'two'));
    assert.equal(body.message, 'Apply failed with 1 conflict: conflict with "one": .data.a');
    assert.deepEqual((await applyObject({ a: '2' }, 'two', true)).data, { a: '2' });
    assert.deepEqual(owners(await stored()), { 'two Apply': { 'f:data': { 'f:a': {} } } });
  });
});

describe('other writes', () => {
  test('the manager is the User-Agent', async () => {
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap('settings', { a: '1' }, { x: 'y' }) });
    assert.deepEqual(owners(made), {
      'kubernetes-client-javascript Update': {
        'f:data': { '.': {}, 'f:a': {} },
        'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } },
      },
    });
  });

  test('a read object can be written back', async () => {
    await apply({ a: '1' });
    const item = await stored();
    const body = { ...item, data: { ...item.data, b: '2' } };
    const changed = await core.replaceNamespacedConfigMap({ name: 'settings', namespace, body, fieldManager: 'other' });
    assert.deepEqual(owners(changed), {
      'me Apply': { 'f:data': { 'f:a': {} } },
      'other Update': { 'f:data': { 'f:b': {} } },
    });
  });
});
