package dev.terrarium.e2e;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.StatusDetails;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.client.dsl.FieldValidateable;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Typed calls, patches, errors, and objects without a Java class. */
class ObjectsTest extends Suite {
  @Test
  void aDeploymentLives() {
    Deployment made = client.resource(deployment("shop", 3)).create();
    assertEquals(1, made.getMetadata().getGeneration());
    assertEquals(600, made.getSpec().getProgressDeadlineSeconds());
    var shop = client.apps().deployments().inNamespace(namespace).withName("shop");
    assertEquals(made, shop.get());

    Deployment changed =
        shop.edit(
            current -> {
              current.getSpec().setReplicas(5);
              return current;
            });
    assertEquals(5, changed.getSpec().getReplicas());
    assertEquals(2, changed.getMetadata().getGeneration());
    assertEquals(changed, shop.get());

    changed.getSpec().setReplicas(7);
    Deployment updated = client.resource(changed).update();
    assertEquals(7, updated.getSpec().getReplicas());
    assertNotEquals(changed.getMetadata().getResourceVersion(), updated.getMetadata().getResourceVersion());

    List<StatusDetails> deleted = shop.delete();
    assertEquals(List.of("shop"), deleted.stream().map(StatusDetails::getName).toList());
    assertNull(shop.get());
    assertEquals(List.of(), shop.delete());
  }

  @Test
  void createOrUpdate() {
    ConfigMap first = client.resource(configMap("one", Map.of("a", "1"))).createOr(NonDeletingOperation::update);
    ConfigMap second = client.resource(configMap("one", Map.of("a", "2"))).createOr(NonDeletingOperation::update);
    assertEquals(first.getMetadata().getUid(), second.getMetadata().getUid());
    assertEquals(Map.of("a", "2"), second.getData());
  }

  @Test
  void aDryRunStoresNothing() {
    ConfigMap made = client.resource(configMap("one", Map.of("a", "1"))).dryRun().create();
    assertTrue(made.getMetadata().getUid() != null);
    assertNull(client.configMaps().inNamespace(namespace).withName("one").get());
  }

  @Test
  void aJobAndItsDefaults() {
    var job =
        new JobBuilder()
            .withNewMetadata()
            .withGenerateName("once-")
            .withNamespace(namespace)
            .endMetadata()
            .withNewSpec()
            .withNewTemplate()
            .withSpec(pod("x").getSpec().edit().withRestartPolicy("Never").build())
            .endTemplate()
            .endSpec()
            .build();
    var made = client.resource(job).create();
    assertTrue(made.getMetadata().getName().matches("once-[a-z0-9]{5}"), made.getMetadata().getName());
    assertEquals(
        List.of(6, 1, 1),
        List.of(made.getSpec().getBackoffLimit(), made.getSpec().getCompletions(), made.getSpec().getParallelism()));
  }

  @Test
  void bytesOfASecretSurvive() {
    byte[] bytes = {0, (byte) 255, 7};
    var secret =
        new SecretBuilder()
            .withNewMetadata()
            .withName("s")
            .withNamespace(namespace)
            .endMetadata()
            .addToData("bytes", Base64.getEncoder().encodeToString(bytes))
            .addToStringData("text", "swordfish")
            .build();
    client.resource(secret).create();
    Map<String, String> stored = client.secrets().inNamespace(namespace).withName("s").get().getData();
    assertArrayEquals(bytes, Base64.getDecoder().decode(stored.get("bytes")));
    assertEquals("swordfish", new String(Base64.getDecoder().decode(stored.get("text")), StandardCharsets.UTF_8));
  }

  @Test
  void listsBySelectorAndPage() {
    Map.of("a", "red", "b", "blue", "c", "red", "d", "red")
        .forEach((name, colour) -> client.resource(labelled(name, Map.of("colour", colour))).create());
    var all = client.configMaps().inNamespace(namespace);
    assertEquals(List.of("a", "c", "d"), namesOf(all.withLabel("colour", "red").list()));
    assertEquals(List.of("b"), namesOf(all.withLabelNotIn("colour", "red", "green").list()));
    assertEquals(List.of("b"), namesOf(all.withField("metadata.name", "b").list()));

    var first = all.list(new ListOptionsBuilder().withLimit(3L).build());
    assertEquals(List.of("a", "b", "c"), namesOf(first));
    assertEquals(1, first.getMetadata().getRemainingItemCount());
    String next = first.getMetadata().getContinue();
    assertEquals(List.of("d"), namesOf(all.list(new ListOptionsBuilder().withLimit(3L).withContinue(next).build())));
  }

  @Test
  void deletesBySelector() {
    client.resource(labelled("a", Map.of("colour", "red"))).create();
    client.resource(labelled("b", Map.of("colour", "blue"))).create();
    client.configMaps().inNamespace(namespace).withLabel("colour", "red").delete();
    assertEquals(List.of("b"), namesOf(client.configMaps().inNamespace(namespace).list()));
  }

  @Test
  void aStrategicPatchMergesContainersByName() {
    assertEquals(List.of("proxy", "main"), containersAfter(PatchType.STRATEGIC_MERGE));
  }

  @Test
  void aMergePatchReplacesTheList() {
    assertEquals(List.of("proxy"), containersAfter(PatchType.JSON_MERGE));
  }

  private List<String> containersAfter(PatchType type) {
    client.resource(deployment("shop", 3)).create();
    String patch =
        """
        {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}}""";
    return client
        .apps()
        .deployments()
        .inNamespace(namespace)
        .withName("shop")
        .patch(PatchContext.of(type), patch)
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .stream()
        .map(Container::getName)
        .toList();
  }

  @Test
  void aPatchOfOperations() {
    client.resource(configMap("one", Map.of("a", "1"))).create();
    var one = client.configMaps().inNamespace(namespace).withName("one");
    String move =
        """
        [{"op": "test", "path": "/data/a", "value": "%s"}, {"op": "move", "from": "/data/a", "path": "/data/b"}]""";
    assertEquals(Map.of("b", "1"), one.patch(PatchContext.of(PatchType.JSON), move.formatted("1")).getData());
    refusal(422, "Invalid", () -> one.patch(PatchContext.of(PatchType.JSON), move.formatted("2")));
    assertEquals(Map.of("b", "1"), one.get().getData());
  }

  @Test
  void aStaleUpdateIsAConflict() {
    ConfigMap stale = client.resource(configMap("one", Map.of())).create();
    client.configMaps().inNamespace(namespace).withName("one").edit(one -> one.edit().addToData("a", "1").build());
    stale.setData(Map.of("b", "2"));
    var status = refusal(409, "Conflict", () -> client.resource(stale).update());
    assertEquals(
        "Operation cannot be fulfilled on configmaps \"one\": the object has been modified; please apply your changes"
            + " to the latest version and try again",
        status.getMessage());
    assertEquals(Map.of("a", "1"), client.configMaps().inNamespace(namespace).withName("one").get().getData());
  }

  @Test
  void aDeletionOfAStaleVersionIsAConflict() {
    ConfigMap stale = client.resource(configMap("one", Map.of())).create();
    var one = client.configMaps().inNamespace(namespace).withName("one");
    ConfigMap current = one.edit(item -> item.edit().addToData("a", "1").build());
    String old = stale.getMetadata().getResourceVersion();
    refusal(409, "Conflict", () -> one.lockResourceVersion(old).delete());
    assertEquals(current, one.get());
    one.lockResourceVersion(current.getMetadata().getResourceVersion()).delete();
    assertNull(one.get());
  }

  @Test
  void anExistingObjectIsNotMadeAgain() {
    client.resource(configMap("one", Map.of())).create();
    var status = refusal(409, "AlreadyExists", () -> client.resource(configMap("one", Map.of())).create());
    assertEquals("configmaps \"one\" already exists", status.getMessage());
  }

  @Test
  void anInvalidObjectHasCauses() {
    var status = refusal(422, "Invalid", () -> client.resource(deployment("shop", -1)).create());
    assertEquals(
        List.of("spec.replicas"), status.getDetails().getCauses().stream().map(StatusCause::getField).toList());
  }

  @Test
  void anUpdateOfAMissingObject() {
    ConfigMap absent = configMap("one", Map.of());
    absent.getMetadata().setResourceVersion("1");
    var status = refusal(404, "NotFound", () -> client.resource(absent).update());
    assertEquals("configmaps \"one\" not found", status.getMessage());
  }

  @Test
  void anUnknownFieldIsRefusedWhenStrict() {
    GenericKubernetesResource odd = generic("one", Map.of("a", "1"));
    odd.setAdditionalProperty("date", Map.of("a", "1"));
    var strict = client.resource(odd).fieldValidation(FieldValidateable.Validation.STRICT);
    var status = refusal(400, "BadRequest", strict::create);
    assertTrue(status.getMessage().contains("strict decoding error: unknown field \"date\""), status.getMessage());
    GenericKubernetesResource stored = client.resource(odd).create();
    assertNull(stored.getAdditionalProperties().get("date"));
  }

  @Test
  void objectsWithoutAClass() {
    client.resource(generic("one", Map.of("a", "1"))).create();
    var all = client.genericKubernetesResources("v1", "ConfigMap").inNamespace(namespace);
    assertEquals("1", all.withName("one").get().get("data", "a"));
    all.withName("one")
        .edit(
            item -> {
              item.setAdditionalProperty("data", Map.of("a", "2"));
              return item;
            });
    assertEquals(List.of("2"), all.list().getItems().stream().map(item -> item.<String>get("data", "a")).toList());
    all.withName("one").delete();
    assertEquals(List.of(), all.list().getItems());
  }

  @Test
  void aFileOfObjects() {
    String file =
        """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: one}
        data: {a: "1"}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: web}
        spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
        """;
    var loaded = client.load(new ByteArrayInputStream(file.getBytes(StandardCharsets.UTF_8))).inNamespace(namespace);
    List<HasMetadata> made = loaded.create();
    assertEquals(List.of("ConfigMap", "Service"), made.stream().map(HasMetadata::getKind).toList());
    var port = client.services().inNamespace(namespace).withName("web").get().getSpec().getPorts().get(0);
    assertEquals("http", port.getTargetPort().getStrVal());
    assertEquals("TCP", port.getProtocol());
    loaded.delete();
    assertNull(client.services().inNamespace(namespace).withName("web").get());
    assertNull(client.configMaps().inNamespace(namespace).withName("one").get());
  }

  private GenericKubernetesResource generic(String name, Map<String, String> data) {
    var item = new GenericKubernetesResource();
    item.setApiVersion("v1");
    item.setKind("ConfigMap");
    item.setMetadata(configMap(name, Map.of()).getMetadata());
    item.setAdditionalProperty("data", data);
    return item;
  }

  private static <T extends HasMetadata> List<String> namesOf(KubernetesResourceList<T> list) {
    return list.getItems().stream().map(item -> item.getMetadata().getName()).toList();
  }
}
