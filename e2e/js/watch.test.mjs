// Watch and informer, with a broken connection and a compacted history.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Watch, makeInformer } from '@kubernetes/client-node';
import { Happenings, Line, compact, configMap, core, kubeConfig, newNamespace } from './suite.mjs';

let namespace;
beforeEach(async () => {
  namespace = await newNamespace();
});
const path = () => `/api/v1/namespaces/${namespace}/configmaps`;
const write = (name, data) => core.createNamespacedConfigMap({ namespace, body: configMap(name, data) });
const list = () => core.listNamespacedConfigMap({ namespace });

/** Events of a watch as [type, name], then ['done', error]. */
async function startWatch(t, query) {
  const events = new Happenings();
  const controller = await new Watch(kubeConfig).watch(
    path(),
    query,
    (type, object) => events.push([type, object.metadata?.name ?? object.code]),
    (error) => events.push(['done', error]),
  );
  t.after(() => controller.abort());
  return events;
}

describe('watch', () => {
  test('delivers each change in order', async (t) => {
    const events = await startWatch(t, {});
    const made = await write('one', { a: '1' });
    await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...made, data: { a: '2' } } });
    await core.deleteNamespacedConfigMap({ name: 'one', namespace });
    for (const type of ['ADDED', 'MODIFIED', 'DELETED']) assert.deepEqual(await events.next(type), [type, 'one']);
  });

  test('resumes after a revision', async (t) => {
    const first = await write('one');
    await write('two');
    const events = await startWatch(t, { resourceVersion: first.metadata.resourceVersion });
    assert.deepEqual(await events.next('the second'), ['ADDED', 'two']);
  });

  test('ends at its timeout without an error', async (t) => {
    const events = await startWatch(t, { timeoutSeconds: 1 });
    assert.deepEqual(await events.next('the end'), ['done', null]);
  });

  test('marks the end of the initial events', async (t) => {
    await write('one');
    const marks = new Happenings();
    const controller = await new Watch(kubeConfig).watch(
      path(),
      { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: 'NotOlderThan' },
      (type, object) => marks.push([type, object.metadata.annotations?.['k8s.io/initial-events-end']]),
      () => {},
    );
    t.after(() => controller.abort());
    assert.deepEqual(await marks.next('the object'), ['ADDED', undefined]);
    assert.deepEqual(await marks.next('the mark'), ['BOOKMARK', 'true']);
  });

  test('of a compacted revision is 410', async (t) => {
    const first = await write('one');
    await write('two');
    await write('three');
    await compact();
    const events = await startWatch(t, { resourceVersion: first.metadata.resourceVersion });
    const [type, what] = await events.next('the refusal');
    // Either the first event of the stream or the response itself.
    assert.ok((type === 'ERROR' && what === 410) || (type === 'done' && what.statusCode === 410), `${type} ${what}`);
  });
});

describe('informer', () => {
  /** An informer whose events are queued as [type, name]. It restarts after an error, as in its documentation. */
  function follow(t, config = kubeConfig) {
    const counted = { lists: 0 };
    const informer = makeInformer(config, path(), () => {
      counted.lists += 1;
      return list();
    });
    const events = new Happenings();
    for (const what of ['add', 'update', 'delete'])
      informer.on(what, (item) => events.push([what, item.metadata.name]));
    let stopped = false;
    informer.on('error', () => {
      if (!stopped) setImmediate(() => informer.start());
    });
    t.after(() => {
      stopped = true;
      return informer.stop();
    });
    return { informer, events, counted };
  }

  test('has what is there and follows the changes', async (t) => {
    const first = await write('one');
    const { informer, events } = follow(t);
    await informer.start();
    assert.deepEqual(await events.next('the first'), ['add', 'one']);
    await write('two');
    assert.deepEqual(await events.next('the second'), ['add', 'two']);
    await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...first, data: { a: '2' } } });
    assert.deepEqual(await events.next('the change'), ['update', 'one']);
    await core.deleteNamespacedConfigMap({ name: 'two', namespace });
    assert.deepEqual(await events.next('the deletion'), ['delete', 'two']);
    assert.deepEqual(
      informer.list().map((item) => item.metadata.name),
      ['one'],
    );
    assert.equal(informer.get('one', namespace).data.a, '2');
  });

  test('connects again after a broken line and misses nothing', async (t) => {
    const line = await Line.open();
    t.after(() => line.close());
    const { informer, events, counted } = follow(t, line.kubeConfig());
    await informer.start();
    await write('one');
    assert.deepEqual(await events.next('the first'), ['add', 'one']);
    line.cut();
    await write('two');
    line.mend();
    assert.deepEqual(await events.next('what happened meanwhile'), ['add', 'two']);
    assert.equal(counted.lists, 1);
  });

  test('lists again when the history is gone', async (t) => {
    const line = await Line.open();
    t.after(() => line.close());
    const { informer, events, counted } = follow(t, line.kubeConfig());
    await informer.start();
    await write('one');
    assert.deepEqual(await events.next('the first'), ['add', 'one']);
    line.cut();
    await core.deleteNamespacedConfigMap({ name: 'one', namespace });
    await write('two');
    await compact();
    line.mend();
    assert.deepEqual(await events.next('the deletion it was not told of'), ['delete', 'one']);
    assert.deepEqual(await events.next('the new one'), ['add', 'two']);
    assert.equal(counted.lists, 2);
  });
});
