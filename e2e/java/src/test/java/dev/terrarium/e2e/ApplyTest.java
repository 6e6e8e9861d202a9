package dev.terrarium.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.dsl.FieldValidateable;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Server-side apply, and the managers that every write leaves in managedFields. */
class ApplyTest extends Suite {
  /** The manager of fabric8's writes that are no applies: its User-Agent up to the slash. */
  private static final String CLIENT = "fabric8-kubernetes-client";

  private <T extends HasMetadata> T apply(String manager, T item) {
    return client.resource(item).fieldManager(manager).serverSideApply();
  }

  private <T extends HasMetadata> T force(String manager, T item) {
    return client.resource(item).fieldManager(manager).forceConflicts().serverSideApply();
  }

  private ConfigMap stored(String name) {
    return client.configMaps().inNamespace(namespace).withName(name).get();
  }

  /** Compares the fields of an entry with their JSON. */
  private static void assertOwns(String fields, ManagedFieldsEntry entry) {
    assertEquals(Serialization.unmarshal(fields, Map.class), entry.getFieldsV1().getAdditionalProperties());
  }

  /** The fields of the causes, which have no order. */
  private static List<String> causesOf(Status status) {
    return status.getDetails().getCauses().stream().map(StatusCause::getField).sorted().toList();
  }

  @Test
  void createsAnObject() {
    ConfigMap made = client.resource(configMap("one", Map.of("a", "1", "b", "2"))).serverSideApply();
    assertNotNull(made.getMetadata().getUid());
    assertEquals(Map.of("a", "1", "b", "2"), made.getData());
    assertEquals(List.of("fabric8 Apply"), managersOf(made));
    ManagedFieldsEntry entry = entryOf("fabric8", made);
    assertEquals("v1", entry.getApiVersion());
    assertEquals("FieldsV1", entry.getFieldsType());
    assertNotNull(entry.getTime());
    assertOwns("{\"f:data\": {\"f:a\": {}, \"f:b\": {}}}", entry);
    assertEquals(made, stored("one"));
  }

  @Test
  void changesAnObject() {
    ConfigMap made = apply("app", configMap("one", Map.of("a", "1")));
    ConfigMap changed = apply("app", configMap("one", Map.of("a", "2")));
    assertEquals(Map.of("a", "2"), changed.getData());
    assertEquals(made.getMetadata().getUid(), changed.getMetadata().getUid());
    assertNotEquals(made.getMetadata().getResourceVersion(), changed.getMetadata().getResourceVersion());
    assertEquals(changed, stored("one"));
  }

  @Test
  void theSameAgainChangesNothing() {
    Deployment made = apply("app", deployment("shop", 3));
    assertEquals(made, apply("app", deployment("shop", 3)));
  }

  @Test
  void aDroppedFieldGoes() {
    apply("app", configMap("one", Map.of("a", "1", "b", "2")));
    ConfigMap changed = apply("app", configMap("one", Map.of("b", "2")));
    assertEquals(Map.of("b", "2"), changed.getData());
    assertOwns("{\"f:data\": {\"f:b\": {}}}", entryOf("app", changed));
    assertEquals(Map.of("b", "2"), stored("one").getData());
  }

  @Test
  void aDroppedItemOfAListGoes() {
    Deployment two = deployment("shop", 3);
    Container proxy = new ContainerBuilder().withName("proxy").withImage("p:1").build();
    two.getSpec().getTemplate().getSpec().getContainers().add(proxy);
    two.getSpec().getTemplate().getSpec().getContainers().get(0).getEnv().add(new EnvVar("A", "1", null));
    Deployment made = apply("app", two);
    assertEquals(List.of("main", "proxy"), namesOf(made));
    assertEquals(List.of(new EnvVar("A", "1", null)), containersOf(made).get(0).getEnv());

    Deployment changed = apply("app", deployment("shop", 3));
    assertEquals(List.of("main"), namesOf(changed));
    assertEquals(List.of(), containersOf(changed).get(0).getEnv());
    assertEquals(2, changed.getMetadata().getGeneration());
  }

  @Test
  void aDroppedFieldWithADefaultReturnsToIt() {
    apply("app", deployment("shop", 3));
    Deployment changed = apply("app", deployment("shop", null));
    assertEquals(1, changed.getSpec().getReplicas());
    assertFalse(entryOf("app", changed).getFieldsV1().toString().contains("f:replicas"));
  }

  @Test
  void fieldsOfOthersStay() {
    apply("one", configMap("shared", Map.of("a", "1")));
    ConfigMap both = apply("two", configMap("shared", Map.of("b", "2")));
    assertEquals(Map.of("a", "1", "b", "2"), both.getData());
    ConfigMap left = apply("two", configMap("shared", Map.of()));
    assertEquals(Map.of("a", "1"), left.getData());
    assertOwns("{\"f:data\": {\"f:a\": {}}}", entryOf("one", left));
  }

  @Test
  void aSharedFieldStaysUntilItsLastOwnerDropsIt() {
    apply("one", configMap("shared", Map.of("a", "1", "b", "1")));
    apply("two", configMap("shared", Map.of("a", "1", "c", "1")));
    assertEquals(Map.of("a", "1", "c", "1"), apply("one", configMap("shared", Map.of())).getData());
    assertEquals(Map.of("c", "1"), apply("two", configMap("shared", Map.of("c", "1"))).getData());
  }

  @Test
  void managersShareAListByItsKeys() {
    apply("app", deployment("shop", 3));
    Deployment sidecar = deployment("shop", null);
    containersOf(sidecar).get(0).setName("proxy");
    Deployment both = apply("mesh", sidecar);
    assertEquals(List.of("main", "proxy"), namesOf(both).stream().sorted().toList());
    assertEquals(List.of("proxy"), namesOf(apply("app", withoutContainers(deployment("shop", 3)))));
  }

  @Test
  void portsAreFoundByTheirDefaultedKeys() {
    Service web =
        new ServiceBuilder()
            .withNewMetadata()
            .withName("web")
            .withNamespace(namespace)
            .endMetadata()
            .withNewSpec()
            .addToSelector("app", "web")
            .addNewPort()
            .withPort(80)
            .endPort()
            .endSpec()
            .build();
    Service made = apply("app", web);
    assertTrue(
        entryOf("app", made).getFieldsV1().toString().contains("k:{\"port\":80,\"protocol\":\"TCP\"}"),
        entryOf("app", made).getFieldsV1().toString());
    web.getSpec().getPorts().get(0).setProtocol("TCP");
    assertEquals(1, apply("app", web).getSpec().getPorts().size());
    web.getSpec().getPorts().get(0).setPort(81);
    assertEquals(List.of(81), apply("app", web).getSpec().getPorts().stream().map(port -> port.getPort()).toList());
  }

  @Test
  void aConflictNamesTheFieldAndItsManager() {
    apply("one", configMap("shared", Map.of("a", "1")));
    Status status = refusal(409, "Conflict", () -> apply("two", configMap("shared", Map.of("a", "2", "b", "2"))));
    assertEquals("Apply failed with 1 conflict: conflict with \"one\": .data.a", status.getMessage());
    List<StatusCause> causes = status.getDetails().getCauses();
    assertEquals(List.of(new StatusCause(".data.a", "conflict with \"one\"", "FieldManagerConflict")), causes);
    assertEquals(Map.of("a", "1"), stored("shared").getData());
    assertEquals(List.of("one Apply"), managersOf(stored("shared")));
  }

  @Test
  void severalConflicts() {
    apply("one", configMap("shared", Map.of("a", "1", "b", "1")));
    apply("two", configMap("shared", Map.of("c", "1")));
    ConfigMap mine = configMap("shared", Map.of("a", "2", "b", "2", "c", "2"));
    Status status = refusal(409, "Conflict", () -> apply("three", mine));
    assertEquals(
        """
        Apply failed with 3 conflicts: conflicts with "one":
        - .data.a
        - .data.b
        conflicts with "two":
        - .data.c""",
        status.getMessage());
    assertEquals(List.of(".data.a", ".data.b", ".data.c"), causesOf(status));
  }

  @Test
  void forceTakesTheField() {
    apply("one", configMap("shared", Map.of("a", "1", "b", "1")));
    ConfigMap mine = configMap("shared", Map.of("a", "2"));
    var context =
        new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager("two")
            .withForce(true)
            .build();
    ConfigMap taken = client.resource(mine).patch(context);
    assertEquals(Map.of("a", "2", "b", "1"), taken.getData());
    assertOwns("{\"f:data\": {\"f:b\": {}}}", entryOf("one", taken));
    assertOwns("{\"f:data\": {\"f:a\": {}}}", entryOf("two", taken));
    assertEquals(taken, force("two", mine));
    // The former owner drops the field, which is no longer its own.
    assertEquals(Map.of("a", "2"), apply("one", configMap("shared", Map.of())).getData());
  }

  @Test
  void anApplierConflictsWithAnUpdate() {
    apply("app", deployment("shop", 3));
    client
        .apps()
        .deployments()
        .inNamespace(namespace)
        .withName("shop")
        .edit(shop -> new DeploymentBuilder(shop).editSpec().withReplicas(5).endSpec().build());
    Status status = refusal(409, "Conflict", () -> apply("app", deployment("shop", 3)));
    String manager = "conflict with \"" + CLIENT + "\" using apps/v1";
    assertEquals("Apply failed with 1 conflict: " + manager + ": .spec.replicas", status.getMessage());
    assertEquals(List.of(".spec.replicas"), causesOf(status));

    Deployment kept = apply("app", deployment("shop", null));
    assertEquals(5, kept.getSpec().getReplicas());
    assertEquals(3, force("app", deployment("shop", 3)).getSpec().getReplicas());
  }

  @Test
  void otherWritesHaveTheClientAsTheirManager() {
    ConfigMap made = client.resource(configMap("one", Map.of("a", "1"))).create();
    assertEquals(List.of(CLIENT + " Update"), managersOf(made));
    assertOwns("{\"f:data\": {\".\": {}, \"f:a\": {}}}", entryOf(CLIENT, made));

    ConfigMap applied = apply("app", configMap("one", Map.of("b", "2")));
    assertEquals(List.of("app Apply", CLIENT + " Update"), managersOf(applied));
    var one = client.configMaps().inNamespace(namespace).withName("one");
    ConfigMap edited = one.edit(item -> item.edit().addToData("b", "3").build());
    assertOwns("{\"f:data\": {\".\": {}, \"f:a\": {}, \"f:b\": {}}}", entryOf(CLIENT, edited));
    // The edit took b: nothing is left to the applier.
    assertEquals(List.of(CLIENT + " Update"), managersOf(edited));

    var context = new PatchContext.Builder().withPatchType(PatchType.JSON_MERGE).withFieldManager("tool").build();
    ConfigMap patched = one.patch(context, "{\"data\": {\"c\": \"4\"}}");
    assertOwns("{\"f:data\": {\"f:c\": {}}}", entryOf("tool", patched));
  }

  @Test
  void statusIsAppliedAlone() {
    client.resource(pod("one")).create();
    Pod report = pod("one");
    report.setSpec(null);
    report = report.edit().withNewStatus().withPhase("Running").withReason("Started").endStatus().build();
    Pod reported = client.resource(report).subresource("status").patch(applyAs("reporter"));
    assertEquals("Running", reported.getStatus().getPhase());
    assertEquals("Started", reported.getStatus().getReason());
    assertEquals("status", entryOf("reporter", reported).getSubresource());
    assertEquals("Apply", entryOf("reporter", reported).getOperation());
    assertFalse(entryOf("reporter", reported).getFieldsV1().toString().contains("f:spec"));

    report.getStatus().setReason(null);
    Pod changed = client.resource(report).subresource("status").patch(applyAs("reporter"));
    assertNull(changed.getStatus().getReason());
    assertEquals("Running", changed.getStatus().getPhase());
  }

  @Test
  void otherStatusWritesHaveAnEntryOfTheirOwn() {
    apply("app", pod("one"));
    Pod status = pod("one").edit().withNewStatus().withPhase("Running").endStatus().build();
    Pod reported = client.resource(status).patchStatus();
    assertEquals(List.of("app Apply", CLIENT + " Update status"), managersOf(reported));
    assertOwns("{\"f:status\": {\"f:phase\": {}}}", entryOf(CLIENT, reported));
    Pod applied = apply("app", pod("one"));
    assertEquals("Running", applied.getStatus().getPhase());
  }

  @Test
  void aStatusInAnApplyOfTheObjectIsNotTaken() {
    Pod both = pod("one").edit().withNewStatus().withPhase("Failed").endStatus().build();
    Pod made = apply("app", both);
    assertEquals("Pending", made.getStatus().getPhase());
    assertFalse(entryOf("app", made).getFieldsV1().toString().contains("f:status"));
  }

  @Test
  void scaleTakesTheReplicas() {
    apply("app", deployment("shop", 3));
    var shop = client.apps().deployments().inNamespace(namespace).withName("shop");
    Deployment scaled = shop.scale(5);
    assertEquals(5, scaled.getSpec().getReplicas());
    assertEquals(List.of("app Apply", CLIENT + " Update scale"), managersOf(scaled));
    ManagedFieldsEntry entry = entryOf(CLIENT, scaled);
    assertEquals("apps/v1", entry.getApiVersion());
    assertOwns("{\"f:spec\": {\"f:replicas\": {}}}", entry);
    assertFalse(entryOf("app", scaled).getFieldsV1().toString().contains("f:replicas"));

    Status status = refusal(409, "Conflict", () -> apply("app", deployment("shop", 3)));
    String manager = "conflict with \"" + CLIENT + "\" with subresource \"scale\" using apps/v1";
    assertEquals("Apply failed with 1 conflict: " + manager + ": .spec.replicas", status.getMessage());
    assertEquals(5, apply("app", deployment("shop", null)).getSpec().getReplicas());
  }

  @Test
  void aScaleIsApplied() {
    apply("app", deployment("shop", 3));
    var scale = new GenericKubernetesResource();
    scale.setApiVersion("autoscaling/v1");
    scale.setKind("Scale");
    scale.setMetadata(deployment("shop", 1).getMetadata());
    scale.setAdditionalProperty("spec", Map.of("replicas", 5));
    var target =
        client
            .genericKubernetesResources("apps/v1", "Deployment")
            .inNamespace(namespace)
            .withName("shop")
            .subresource("scale");
    Status status = refusal(409, "Conflict", () -> target.patch(applyAs("scaler"), scale));
    assertEquals(List.of(".spec.replicas"), causesOf(status));
    var forced =
        new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager("scaler")
            .withForce(true)
            .build();
    assertEquals(5, target.patch(forced, scale).<Integer>get("spec", "replicas"));
    Deployment shop = client.apps().deployments().inNamespace(namespace).withName("shop").get();
    assertEquals(5, shop.getSpec().getReplicas());
    // Kubernetes keeps no time for a new owner of a scale: its entry comes first.
    assertEquals(List.of("scaler Apply scale", "app Apply"), managersOf(shop));
    assertOwns("{\"f:spec\": {\"f:replicas\": {}}}", entryOf("scaler", shop));
  }

  @Test
  void aStaleApplyIsAConflict() {
    ConfigMap first = apply("app", configMap("one", Map.of("a", "1")));
    apply("app", configMap("one", Map.of("a", "2")));
    ConfigMap stale = configMap("one", Map.of("a", "3"));
    stale.getMetadata().setResourceVersion(first.getMetadata().getResourceVersion());
    Status status = refusal(409, "Conflict", () -> apply("app", stale));
    assertTrue(status.getMessage().contains("the object has been modified"), status.getMessage());
    assertEquals(Map.of("a", "2"), stored("one").getData());
  }

  @Test
  void anObjectThatWasReadIsNotApplied() {
    ConfigMap read = apply("app", configMap("one", Map.of("a", "1")));
    Status status = refusal(400, "BadRequest", () -> apply("app", read));
    assertEquals("metadata.managedFields must be nil", status.getMessage());
  }

  @Test
  void aDryRunStoresNothing() {
    var absent = client.resource(configMap("one", Map.of("a", "1")));
    ConfigMap would = absent.dryRun().serverSideApply();
    assertEquals(List.of("fabric8 Apply"), managersOf(would));
    assertNull(stored("one"));
    apply("app", configMap("one", Map.of("a", "1")));
    var other = client.resource(configMap("one", Map.of("a", "2"))).dryRun();
    Status status = refusal(409, "Conflict", other::serverSideApply);
    assertEquals(List.of(".data.a"), causesOf(status));
  }

  @Test
  void anUnknownFieldIsRefused() {
    var odd = new GenericKubernetesResource();
    odd.setApiVersion("v1");
    odd.setKind("ConfigMap");
    odd.setMetadata(configMap("one", Map.of()).getMetadata());
    odd.setAdditionalProperty("date", Map.of("a", "1"));
    var strict = client.resource(odd).fieldValidation(FieldValidateable.Validation.STRICT);
    Status status = refusal(500, null, strict::serverSideApply);
    assertTrue(status.getMessage().contains(".date: field not declared in schema"), status.getMessage());
    assertNull(stored("one"));
  }

  @Test
  void anInvalidObjectIsNotApplied() {
    Status status = refusal(422, "Invalid", () -> apply("app", deployment("shop", -1)));
    assertEquals(List.of("spec.replicas"), causesOf(status));
    assertNull(client.apps().deployments().inNamespace(namespace).withName("shop").get());
  }

  @Test
  void managersAreReset() {
    apply("app", configMap("one", Map.of("a", "1")));
    var one = client.configMaps().inNamespace(namespace).withName("one");
    ConfigMap reset =
        one.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\": {\"managedFields\": [{}]}}");
    assertEquals(List.of(), reset.getMetadata().getManagedFields());
    assertEquals(Map.of("a", "1"), reset.getData());
    // What was there before the first apply belongs to a manager of its own.
    ConfigMap applied = apply("app", configMap("one", Map.of("b", "2")));
    assertEquals(List.of("app Apply", "before-first-apply Update"), managersOf(applied));
  }

  @Test
  void aListOfObjects() {
    var both = client.resourceList(configMap("one", Map.of("a", "1")), pod("two"));
    List<HasMetadata> made = both.serverSideApply();
    assertEquals(List.of("one", "two"), made.stream().map(item -> item.getMetadata().getName()).toList());
    assertEquals(List.of("fabric8 Apply"), managersOf(stored("one")));
    client.resourceList(configMap("one", Map.of("b", "1")), pod("two")).serverSideApply();
    assertEquals(Map.of("b", "1"), stored("one").getData());
  }

  private static PatchContext applyAs(String manager) {
    return new PatchContext.Builder().withPatchType(PatchType.SERVER_SIDE_APPLY).withFieldManager(manager).build();
  }

  private static List<Container> containersOf(Deployment item) {
    return item.getSpec().getTemplate().getSpec().getContainers();
  }

  private static List<String> namesOf(Deployment item) {
    return containersOf(item).stream().map(Container::getName).toList();
  }

  private static Deployment withoutContainers(Deployment item) {
    containersOf(item).clear();
    return item;
  }
}
