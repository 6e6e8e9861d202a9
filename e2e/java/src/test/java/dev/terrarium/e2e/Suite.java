package dev.terrarium.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;

/** Shared by the tests: a client, a namespace for every test, objects, and the errors of the server. */
abstract class Suite {
  static final int WAIT_MAX_S = 20;
  static final KubernetesClient client = newClient(config());

  String namespace;

  @BeforeEach
  void makeNamespace() {
    namespace =
        client
            .resource(new NamespaceBuilder().withNewMetadata().withGenerateName("java-").endMetadata().build())
            .create()
            .getMetadata()
            .getName();
  }

  /** The cluster of KUBECONFIG, or the one at TERRARIUM_URL. */
  static Config config() {
    String file = System.getenv("KUBECONFIG");
    return file == null
        ? new ConfigBuilder(Config.empty()).withMasterUrl(serverUrl()).build()
        : Config.fromKubeconfig(new File(file));
  }

  static String serverUrl() {
    return System.getenv("TERRARIUM_URL");
  }

  static KubernetesClient newClient(Config config) {
    // A retry would hide an error of the server.
    return new KubernetesClientBuilder()
        .withConfig(new ConfigBuilder(config).withRequestRetryBackoffLimit(0).build())
        .build();
  }

  /** The Status with which the server refused a call. */
  static Status refusal(int code, String reason, Executable call) {
    KubernetesClientException refused = assertThrows(KubernetesClientException.class, call);
    assertEquals(code, refused.getCode(), refused.toString());
    Status status = refused.getStatus();
    assertEquals(
        Arrays.asList("Status", reason, code), Arrays.asList(status.getKind(), status.getReason(), status.getCode()));
    return status;
  }

  /** Drops the server's history before the current revision, so that older reads are 410. */
  static void compact() throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(serverUrl() + "/terrarium/v1/store/compact"))
            .POST(HttpRequest.BodyPublishers.noBody())
            .build();
    assertEquals(200, HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
  }

  /** The entry of one manager, which has exactly one. */
  static ManagedFieldsEntry entryOf(String manager, HasMetadata object) {
    List<ManagedFieldsEntry> found =
        object.getMetadata().getManagedFields().stream().filter(entry -> manager.equals(entry.getManager())).toList();
    assertEquals(1, found.size(), object.getMetadata().getManagedFields().toString());
    return found.get(0);
  }

  /** "manager operation subresource", in the server's order. */
  static List<String> managersOf(HasMetadata object) {
    return object.getMetadata().getManagedFields().stream()
        .map(
            entry ->
                entry.getManager()
                    + " "
                    + entry.getOperation()
                    + (entry.getSubresource() == null ? "" : " " + entry.getSubresource()))
        .toList();
  }

  ConfigMap configMap(String name, Map<String, String> data) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withData(data)
        .build();
  }

  ConfigMap labelled(String name, Map<String, String> labels) {
    return new ConfigMapBuilder(configMap(name, Map.of()))
        .editMetadata()
        .withLabels(labels)
        .endMetadata()
        .build();
  }

  Pod pod(String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .addToLabels("app", name)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withImage("example.test/app:1")
        .endContainer()
        .endSpec()
        .build();
  }

  /** A Deployment as an applier writes it; without a number of replicas if `replicas` is null. */
  Deployment deployment(String name, Integer replicas) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withNewSpec()
        .withReplicas(replicas)
        .withNewSelector()
        .addToMatchLabels("app", name)
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .addToLabels("app", name)
        .endMetadata()
        .withSpec(pod(name).getSpec())
        .endTemplate()
        .endSpec()
        .build();
  }
}
