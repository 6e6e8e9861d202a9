package dev.terrarium.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.api.model.autoscaling.v1.Scale;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetStatusBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** status, scale, binding and eviction. */
class SubresourcesTest extends Suite {
  @Test
  void updateStatusWritesTheStatusAlone() {
    Deployment shop = client.resource(deployment("shop", 3)).create();
    shop.getSpec().setReplicas(9);
    shop.setStatus(new DeploymentStatusBuilder().withObservedGeneration(1L).withReplicas(2).build());
    Deployment reported = client.resource(shop).updateStatus();
    assertEquals(3, reported.getSpec().getReplicas());
    assertEquals(2, reported.getStatus().getReplicas());
    assertEquals(1, reported.getMetadata().getGeneration());
  }

  @Test
  void updateWritesTheSpecAlone() {
    Deployment shop = client.resource(deployment("shop", 3)).create();
    shop.getSpec().setReplicas(9);
    shop.setStatus(new DeploymentStatusBuilder().withReplicas(2).build());
    Deployment updated = client.resource(shop).update();
    assertEquals(9, updated.getSpec().getReplicas());
    assertNull(updated.getStatus().getReplicas());
  }

  @Test
  void aStaleStatusIsAConflict() {
    Deployment stale = client.resource(deployment("shop", 3)).create();
    client.apps().deployments().inNamespace(namespace).withName("shop").scale(5);
    stale.setStatus(new DeploymentStatusBuilder().withReplicas(2).build());
    refusal(409, "Conflict", () -> client.resource(stale).updateStatus());
  }

  @Test
  void patchStatusMerges() {
    Pod one = client.resource(pod("one")).create();
    var status =
        one.edit().withNewStatus().withPhase("Running").withPodIP("10.0.0.7").endStatus().build();
    status.getMetadata().setResourceVersion(null);
    status.getMetadata().setManagedFields(null);
    Pod patched = client.resource(status).patchStatus();
    assertEquals("Running", patched.getStatus().getPhase());
    assertEquals("10.0.0.7", patched.getStatus().getPodIP());
    assertEquals("BestEffort", patched.getStatus().getQosClass()); // the server's own, which the patch lacks
  }

  @Test
  void editStatusSendsWhatChanged() {
    client.resource(pod("one")).create();
    Pod edited =
        client
            .pods()
            .inNamespace(namespace)
            .withName("one")
            .editStatus(pod -> pod.edit().editStatus().withPhase("Failed").withReason("Gone").endStatus().build());
    assertEquals(
        List.of("Failed", "Gone"), List.of(edited.getStatus().getPhase(), edited.getStatus().getReason()));
  }

  @Test
  void scale() {
    client.resource(deployment("shop", 3)).create();
    var shop = client.apps().deployments().inNamespace(namespace).withName("shop");
    Scale scale = shop.scale();
    assertEquals(3, scale.getSpec().getReplicas());
    assertEquals("app=shop", scale.getStatus().getSelector());
    assertEquals(4, shop.scale(4).getSpec().getReplicas());
    assertEquals(2, shop.get().getMetadata().getGeneration());

    scale.getSpec().setReplicas(8);
    refusal(409, "Conflict", () -> shop.scale(scale)); // it has the resource version from before
    assertEquals(4, shop.get().getSpec().getReplicas());
  }

  @Test
  void aBindingPlacesAPod() {
    client.resource(pod("one")).create();
    var binding =
        new BindingBuilder()
            .withNewMetadata()
            .withName("one")
            .withNamespace(namespace)
            .endMetadata()
            .withNewTarget()
            .withKind("Node")
            .withName("far")
            .endTarget()
            .build();
    client.bindings().inNamespace(namespace).resource(binding).create();
    Pod placed = client.pods().inNamespace(namespace).withName("one").get();
    assertEquals("far", placed.getSpec().getNodeName());
    assertTrue(
        placed.getStatus().getConditions().stream()
            .anyMatch(found -> found.getType().equals("PodScheduled") && found.getStatus().equals("True")),
        placed.getStatus().toString());
  }

  @Test
  void anEvictionRespectsABudget() {
    client.resource(pod("one")).create();
    client.resource(pod("one").edit().withNewStatus().withPhase("Running").endStatus().build()).patchStatus();
    var budget =
        new PodDisruptionBudgetBuilder()
            .withNewMetadata()
            .withName("all")
            .withNamespace(namespace)
            .endMetadata()
            .withNewSpec()
            .withMinAvailable(new IntOrString(1))
            .withNewSelector()
            .addToMatchLabels("app", "one")
            .endSelector()
            .endSpec()
            .build();
    client.resource(budget).create();
    budget.setStatus(new PodDisruptionBudgetStatusBuilder().withObservedGeneration(1L).withDesiredHealthy(1).build());
    client.resource(budget).updateStatus();
    var one = client.pods().inNamespace(namespace).withName("one");
    assertFalse(one.evict()); // 429
    assertNotNull(one.get());

    client.policy().v1().podDisruptionBudget().inNamespace(namespace).withName("all").delete();
    assertTrue(one.evict());
    assertNull(one.get());
  }
}
