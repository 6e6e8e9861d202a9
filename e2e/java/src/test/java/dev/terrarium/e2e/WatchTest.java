package dev.terrarium.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Watches, informers, conditions and the election of a leader. */
class WatchTest extends Suite {
  /** What a watch or an informer reported, one line for each. */
  private static final class Events implements Watcher<ConfigMap>, ResourceEventHandler<ConfigMap> {
    private final BlockingQueue<String> queue = new LinkedBlockingQueue<>();
    private final CompletableFuture<WatcherException> closed = new CompletableFuture<>();

    @Override
    public void eventReceived(Action action, ConfigMap item) {
      queue.add(action + " " + text(item));
    }

    @Override
    public void onClose(WatcherException cause) {
      closed.complete(cause);
    }

    @Override
    public void onAdd(ConfigMap item) {
      queue.add("add " + text(item));
    }

    @Override
    public void onUpdate(ConfigMap old, ConfigMap item) {
      queue.add("update " + text(old) + " to " + text(item));
    }

    @Override
    public void onDelete(ConfigMap item, boolean unknown) {
      queue.add("delete " + text(item) + (unknown ? " unseen" : ""));
    }

    /** The next one, for which it waits no longer than WAIT_MAX_S. */
    String next() throws InterruptedException {
      return queue.poll(WAIT_MAX_S, TimeUnit.SECONDS);
    }

    private static String text(ConfigMap item) {
      return item.getMetadata().getName() + item.getData();
    }
  }

  private ConfigMap create(String name, String value) {
    return client.resource(configMap(name, Map.of("a", value))).create();
  }

  private void change(String name, String value) {
    client.configMaps().inNamespace(namespace).withName(name).edit(item -> item.edit().addToData("a", value).build());
  }

  private void delete(String name) {
    client.configMaps().inNamespace(namespace).withName(name).delete();
  }

  private static ListOptions after(String resourceVersion) {
    return new ListOptionsBuilder().withResourceVersion(resourceVersion).build();
  }

  @Test
  void aWatchReportsEveryChange() throws Exception {
    var events = new Events();
    create("old", "0");
    try (var watch = client.configMaps().inNamespace(namespace).watch(events)) {
      assertEquals("ADDED old{a=0}", events.next());
      create("one", "1");
      assertEquals("ADDED one{a=1}", events.next());
      change("one", "2");
      assertEquals("MODIFIED one{a=2}", events.next());
      delete("one");
      assertEquals("DELETED one{a=2}", events.next());
    }
  }

  @Test
  void aWatchContinuesFromAResourceVersion() throws Exception {
    String start = create("one", "1").getMetadata().getResourceVersion();
    change("one", "2");
    change("one", "3");
    var events = new Events();
    try (var watch = client.configMaps().inNamespace(namespace).watch(after(start), events)) {
      assertEquals("MODIFIED one{a=2}", events.next());
      assertEquals("MODIFIED one{a=3}", events.next());
    }
  }

  @Test
  void aWatchWithASelector() throws Exception {
    var events = new Events();
    try (var watch = client.configMaps().inNamespace(namespace).withLabel("colour", "red").watch(events)) {
      client.resource(labelled("blue", Map.of("colour", "blue"))).create();
      client.resource(labelled("red", Map.of("colour", "red"))).create();
      assertEquals("ADDED red{}", events.next());
      client
          .configMaps()
          .inNamespace(namespace)
          .withName("red")
          .edit(item -> item.edit().editMetadata().addToLabels("colour", "blue").endMetadata().build());
      assertEquals("DELETED red{}", events.next());
    }
  }

  @Test
  void aWatchOfCompactedHistoryIsGone() throws Exception {
    String start = create("one", "1").getMetadata().getResourceVersion();
    change("one", "2");
    compact();
    var events = new Events();
    try (var watch = client.configMaps().inNamespace(namespace).watch(after(start), events)) {
      WatcherException cause = events.closed.get(WAIT_MAX_S, TimeUnit.SECONDS);
      assertTrue(cause.isHttpGone(), cause.toString());
    }
  }

  @Test
  void anInformerKeepsAStore() throws Exception {
    create("old", "0");
    var events = new Events();
    try (var informer = client.configMaps().inNamespace(namespace).inform(events)) {
      assertEquals("add old{a=0}", events.next());
      informer.addIndexers(Map.of("value", item -> List.of(item.getData().get("a"))));
      create("one", "1");
      assertEquals("add one{a=1}", events.next());
      change("one", "0");
      assertEquals("update one{a=1} to one{a=0}", events.next());
      assertEquals(
          List.of("old", "one"),
          informer.getIndexer().byIndex("value", "0").stream()
              .map(item -> item.getMetadata().getName())
              .sorted()
              .toList());
      delete("old");
      assertEquals("delete old{a=0}", events.next());
      assertNull(informer.getStore().getByKey(namespace + "/old"));
      assertNotNull(informer.getStore().getByKey(namespace + "/one"));
    }
  }

  @Test
  void anInformerSurvivesALostConnection() throws Exception {
    var events = new Events();
    try (var line = new Line();
        KubernetesClient far = newClient(line.config());
        var informer = far.configMaps().inNamespace(namespace).inform(events)) {
      create("one", "1");
      assertEquals("add one{a=1}", events.next());
      line.cut();
      change("one", "2");
      create("two", "1");
      line.mend();
      assertEquals("update one{a=1} to one{a=2}", events.next());
      assertEquals("add two{a=1}", events.next());
    }
  }

  @Test
  void anInformerListsAgainAfterACompaction() throws Exception {
    var events = new Events();
    try (var line = new Line();
        KubernetesClient far = newClient(line.config());
        var informer = far.configMaps().inNamespace(namespace).inform(events)) {
      create("one", "1");
      assertEquals("add one{a=1}", events.next());
      line.cut();
      change("one", "2");
      change("one", "3");
      compact();
      line.mend();
      assertEquals("update one{a=1} to one{a=3}", events.next());
    }
  }

  @Test
  void aConditionIsAwaited() throws Exception {
    create("one", "1");
    CompletableFuture<List<ConfigMap>> ready =
        client
            .configMaps()
            .inNamespace(namespace)
            .withName("one")
            .informOnCondition(found -> found.stream().anyMatch(item -> "ready".equals(item.getData().get("a"))));
    change("one", "almost");
    assertEquals(false, ready.isDone());
    change("one", "ready");
    assertEquals("ready", ready.get(WAIT_MAX_S, TimeUnit.SECONDS).get(0).getData().get("a"));
  }

  @Test
  void oneLeaderAtATime() throws Exception {
    BlockingQueue<String> log = new LinkedBlockingQueue<>();
    CompletableFuture<?> first = elect("first", log);
    assertEquals("first leads", log.poll(WAIT_MAX_S, TimeUnit.SECONDS));
    CompletableFuture<?> second = elect("second", log);
    try {
      var lease = client.leases().inNamespace(namespace).withName("leader");
      assertEquals("first", lease.get().getSpec().getHolderIdentity());
      first.cancel(true); // gives the lease up
      assertEquals("first stops", log.poll(WAIT_MAX_S, TimeUnit.SECONDS));
      assertEquals("second leads", log.poll(WAIT_MAX_S, TimeUnit.SECONDS));
      Lease taken = lease.get();
      assertEquals("second", taken.getSpec().getHolderIdentity());
      assertNotNull(taken.getSpec().getRenewTime());
    } finally {
      second.cancel(true);
    }
  }

  private CompletableFuture<?> elect(String identity, BlockingQueue<String> log) {
    return client
        .leaderElector()
        .withConfig(
            new LeaderElectionConfigBuilder()
                .withName(identity)
                .withLock(new LeaseLock(namespace, "leader", identity))
                .withLeaseDuration(Duration.ofSeconds(15))
                .withRenewDeadline(Duration.ofSeconds(10))
                .withRetryPeriod(Duration.ofMillis(100))
                .withReleaseOnCancel(true)
                .withLeaderCallbacks(
                    new LeaderCallbacks(
                        () -> log.add(identity + " leads"), () -> log.add(identity + " stops"), leader -> {}))
                .build())
        .build()
        .start();
  }
}
