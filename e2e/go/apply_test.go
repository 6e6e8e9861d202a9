package e2e

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/csaupgrade"
)

func by(manager string) metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager} }

func applyMap(name, ns string, data map[string]string) *applycorev1.ConfigMapApplyConfiguration {
	return applycorev1.ConfigMap(name, ns).WithData(data)
}

func applyDeployment(name, ns string) *applyappsv1.DeploymentApplyConfiguration {
	labels := map[string]string{"app": name}
	return applyappsv1.Deployment(name, ns).WithLabels(labels).
		WithSpec(applyappsv1.DeploymentSpec().WithReplicas(3).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(applycorev1.PodTemplateSpec().WithLabels(labels).
				WithSpec(applycorev1.PodSpec().WithContainers(applycorev1.Container().WithName("main").
					WithImage("example.test/app:1").
					WithPorts(applycorev1.ContainerPort().WithContainerPort(80)).
					WithEnv(applycorev1.EnvVar().WithName("A").WithValue("1")).
					WithReadinessProbe(applycorev1.Probe().WithHTTPGet(
						applycorev1.HTTPGetAction().WithPort(intstr.FromInt32(80))))))))
}

// owners are the sets of an object's managers, by "manager Operation subresource".
func owners(t *testing.T, object metav1.Object) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, entry := range object.GetManagedFields() {
		key := strings.TrimSpace(entry.Manager + " " + string(entry.Operation) + " " + entry.Subresource)
		if entry.FieldsType != "FieldsV1" || found[key] != "" {
			t.Errorf("entry of managedFields: %+v", entry)
		}
		found[key] = string(entry.FieldsV1.GetRawBytes())
	}
	return found
}

func wantOwners(t *testing.T, object metav1.Object, want map[string]string) {
	t.Helper()
	if got := owners(t, object); !maps.Equal(got, want) {
		t.Errorf("owners:\n%v\ninstead of\n%v", got, want)
	}
}

func wantMessage(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error:\n%v\ninstead of\n%s", err, want)
	}
}

func TestApplyConfigurations(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, ns := testContext(t), newNamespace(t, client)
		configMaps := client.CoreV1().ConfigMaps(ns)
		made, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "1", "b": "2"}), by("me"))
		must(t, err)
		wantOwners(t, made, map[string]string{"me Apply": `{"f:data":{"f:a":{},"f:b":{}}}`})

		again, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "1", "b": "2"}), by("me"))
		must(t, err)
		if again.ResourceVersion != made.ResourceVersion {
			t.Errorf("the same configuration again made revision %s of %s", again.ResourceVersion, made.ResourceVersion)
		}

		_, err = configMaps.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data":{"c":"3"}}`),
			metav1.PatchOptions{FieldManager: "other"})
		must(t, err)
		changed, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "5"}), by("me"))
		must(t, err)
		if !maps.Equal(changed.Data, map[string]string{"a": "5", "c": "3"}) {
			t.Errorf("b was removed and c belongs to another manager: %v", changed.Data)
		}
		wantOwners(t, changed, map[string]string{"me Apply": `{"f:data":{"f:a":{}}}`,
			"other Update": `{"f:data":{"f:c":{}}}`})
		stored, err := configMaps.Get(ctx, "settings", metav1.GetOptions{})
		must(t, err)
		if stored.ResourceVersion != changed.ResourceVersion {
			t.Errorf("stored: %+v", stored)
		}
		wantOwners(t, stored, owners(t, changed))
	})
}

func TestApplyDryRun(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	configMaps := client.CoreV1().ConfigMaps(ns)
	dry := metav1.ApplyOptions{FieldManager: "me", DryRun: []string{metav1.DryRunAll}}
	made, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "1"}), dry)
	must(t, err)
	wantOwners(t, made, map[string]string{"me Apply": `{"f:data":{"f:a":{}}}`})
	if _, err = configMaps.Get(ctx, "settings", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the dry run: %v", err)
	}
}

func TestApplyConflict(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	configMaps := client.CoreV1().ConfigMaps(ns)
	_, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "1", "b": "1"}), by("one"))
	must(t, err)
	_, err = configMaps.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data":{"c":"1"}}`),
		metav1.PatchOptions{FieldManager: "two"})
	must(t, err)

	all := applyMap("settings", ns, map[string]string{"a": "2", "b": "2", "c": "2"})
	_, err = configMaps.Apply(ctx, all, by("three"))
	if !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Fatalf("conflict: %v", err)
	}
	wantMessage(t, err, "Apply failed with 3 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b\n"+
		"conflicts with \"two\" using v1:\n- .data.c")
	causes := map[string]string{}
	for _, cause := range err.(*apierrors.StatusError).Status().Details.Causes {
		causes[cause.Field] = cause.Message
	}
	if !maps.Equal(causes, map[string]string{".data.a": `conflict with "one"`, ".data.b": `conflict with "one"`,
		".data.c": `conflict with "two" using v1`}) {
		t.Errorf("causes: %v", causes)
	}

	force := by("three")
	force.Force = true
	forced, err := configMaps.Apply(ctx, all, force)
	must(t, err)
	wantOwners(t, forced, map[string]string{"three Apply": `{"f:data":{"f:a":{},"f:b":{},"f:c":{}}}`})
}

func TestApplyNeedsAManager(t *testing.T) {
	client := clientset(t)
	ns := newNamespace(t, client)
	_, err := client.CoreV1().ConfigMaps(ns).Apply(testContext(t), applyMap("settings", ns, nil), metav1.ApplyOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("without a manager: %v", err)
	}
	wantMessage(t, err, `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`)
}

// The extract, change and apply of a controller: the sets must name exactly what it applied, in lists by key too.
func TestExtractChangeAndApply(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	deployments := client.AppsV1().Deployments(ns)
	applied := applyDeployment("shop", ns)
	_, err := deployments.Apply(ctx, applied, by("me"))
	must(t, err)
	_, err = deployments.Apply(ctx, applyappsv1.Deployment("shop", ns).WithSpec(applyappsv1.DeploymentSpec().
		WithTemplate(applycorev1.PodTemplateSpec().WithSpec(applycorev1.PodSpec().WithContainers(
			applycorev1.Container().WithName("main").WithEnv(applycorev1.EnvVar().WithName("B").WithValue("2")),
			applycorev1.Container().WithName("proxy").WithImage("p:1"))))), by("mesh"))
	must(t, err)
	stored, err := deployments.Get(ctx, "shop", metav1.GetOptions{})
	must(t, err)

	extracted, err := applyappsv1.ExtractDeployment(stored, "me")
	must(t, err)
	// The protocol in the key of the port is a default, which is not extracted.
	want, _ := json.Marshal(applied)
	if got, _ := json.Marshal(extracted); string(got) != string(want) {
		t.Errorf("extracted:\n%s\ninstead of\n%s", got, want)
	}
	extracted.Spec.Template.Spec.Containers[0].WithImage("example.test/app:2").Env = nil
	changed, err := deployments.Apply(ctx, extracted, by("me"))
	must(t, err)
	containers := changed.Spec.Template.Spec.Containers
	if len(containers) != 2 || containers[0].Image != "example.test/app:2" || len(containers[0].Env) != 1 ||
		containers[0].Env[0].Name != "B" || containers[1].Image != "p:1" {
		t.Errorf("containers: %+v", containers)
	}
}

func TestApplyStatusAndScale(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, ns := testContext(t), newNamespace(t, client)
		deployments := client.AppsV1().Deployments(ns)
		_, err := deployments.Create(ctx, deployment("shop", 3), metav1.CreateOptions{FieldManager: "maker"})
		must(t, err)
		withStatus, err := deployments.ApplyStatus(ctx, applyappsv1.Deployment("shop", ns).
			WithStatus(applyappsv1.DeploymentStatus().WithReplicas(2).WithConditions(
				applyappsv1.DeploymentCondition().WithType(appsv1.DeploymentAvailable).WithStatus(corev1.ConditionTrue))),
			by("keeper"))
		must(t, err)
		if withStatus.Status.Replicas != 2 || withStatus.Generation != 1 {
			t.Errorf("after the status: %+v", withStatus)
		}
		if got := owners(t, withStatus)["keeper Apply status"]; got != `{"f:status":{"f:conditions":{"k:{\"type\":\"Available\"}":`+
			`{".":{},"f:status":{},"f:type":{}}},"f:replicas":{}}}` {
			t.Errorf("owner of the status: %s", got)
		}

		scale := applyautoscalingv1.Scale().WithName("shop").WithNamespace(ns).
			WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(6))
		_, err = deployments.ApplyScale(ctx, "shop", scale, by("scaler"))
		wantMessage(t, err, `Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas`)
		force := by("scaler")
		force.Force = true
		scaled, err := deployments.ApplyScale(ctx, "shop", scale, force)
		must(t, err)
		if scaled.Spec.Replicas != 6 {
			t.Errorf("scaled: %+v", scaled)
		}
		stored, err := deployments.Get(ctx, "shop", metav1.GetOptions{})
		must(t, err)
		got := owners(t, stored)
		if *stored.Spec.Replicas != 6 || got["scaler Apply scale"] != `{"f:spec":{"f:replicas":{}}}` ||
			strings.Contains(got["maker Update"], "f:replicas") {
			t.Errorf("replicas %d, owners %v", *stored.Spec.Replicas, got)
		}
	})
}

// Without a field manager it is the program's name in the User-Agent.
func TestManagerOfTheUserAgent(t *testing.T) {
	c := restConfig(t)
	c.UserAgent = "shop-operator/v1.2 (linux/amd64)"
	client := newClientset(t, c)
	ctx, ns := testContext(t), newNamespace(t, client)
	configMaps := client.CoreV1().ConfigMaps(ns)
	made, err := configMaps.Create(ctx, configMap("settings", map[string]string{"a": "1"}), metav1.CreateOptions{})
	must(t, err)
	wantOwners(t, made, map[string]string{"shop-operator Update": `{"f:data":{".":{},"f:a":{}}}`})
	made.Data["b"] = "2"
	changed, err := configMaps.Update(ctx, made, metav1.UpdateOptions{FieldManager: "other"})
	must(t, err)
	wantOwners(t, changed, map[string]string{"shop-operator Update": `{"f:data":{".":{},"f:a":{}}}`,
		"other Update": `{"f:data":{"f:b":{}}}`})
}

func TestDynamicApply(t *testing.T) {
	typed := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, typed)
	client, err := dynamic.NewForConfig(restConfig(t))
	must(t, err)
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(ns)
	text, _ := json.Marshal(applyDeployment("shop", ns))
	object := &unstructured.Unstructured{}
	must(t, object.UnmarshalJSON(text))
	made, err := deployments.Apply(ctx, "shop", object, by("me"))
	must(t, err)

	// The types come from the server's OpenAPI document here, not from client-go's own.
	extractor, err := applymetav1.NewUnstructuredExtractor(typed.Discovery())
	must(t, err)
	extracted, err := extractor.Extract(made, "me")
	must(t, err)
	ports, _, _ := unstructured.NestedSlice(extracted.Object, "spec", "template", "spec", "containers")
	if len(ports) != 1 || ports[0].(map[string]any)["image"] != "example.test/app:1" {
		t.Errorf("extracted: %v", extracted.Object)
	}
	must(t, unstructured.SetNestedField(extracted.Object, int64(5), "spec", "replicas"))
	changed, err := deployments.Apply(ctx, "shop", extracted, by("me"))
	must(t, err)
	if n, _, _ := unstructured.NestedInt64(changed.Object, "spec", "replicas"); n != 5 || changed.GetGeneration() != 2 {
		t.Errorf("changed: %v", changed.Object)
	}

	status := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "shop"}, "status": map[string]any{"replicas": int64(1)}}}
	withStatus, err := deployments.ApplyStatus(ctx, "shop", status, by("keeper"))
	must(t, err)
	if n, _, _ := unstructured.NestedInt64(withStatus.Object, "status", "replicas"); n != 1 ||
		owners(t, withStatus)["keeper Apply status"] != `{"f:status":{"f:replicas":{}}}` {
		t.Errorf("status: %v", withStatus.Object)
	}
}

// What a controller runs once when it moves from updates to applies.
func TestUpgradeOfManagedFields(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	configMaps := client.CoreV1().ConfigMaps(ns)
	made, err := configMaps.Create(ctx, configMap("settings", map[string]string{"a": "1", "b": "2"}),
		metav1.CreateOptions{FieldManager: "old"})
	must(t, err)
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(made, sets.New("old"), "new")
	must(t, err)
	upgraded, err := configMaps.Patch(ctx, "settings", types.JSONPatchType, patch, metav1.PatchOptions{})
	must(t, err)
	wantOwners(t, upgraded, map[string]string{"new Apply": `{"f:data":{".":{},"f:a":{},"f:b":{}}}`})
	applied, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "1"}), by("new"))
	must(t, err)
	if !maps.Equal(applied.Data, map[string]string{"a": "1"}) {
		t.Errorf("what the upgraded manager left out: %v", applied.Data)
	}
	_, err = configMaps.Patch(ctx, "settings", types.JSONPatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("an upgrade at an old revision: %v", err)
	}
}

func TestOwnersCanBeReset(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	configMaps := client.CoreV1().ConfigMaps(ns)
	_, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"a": "1"}), by("one"))
	must(t, err)
	reset, err := configMaps.Patch(ctx, "settings", types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`),
		metav1.PatchOptions{})
	must(t, err)
	wantOwners(t, reset, map[string]string{})
	applied, err := configMaps.Apply(ctx, applyMap("settings", ns, map[string]string{"b": "2"}), by("two"))
	must(t, err)
	wantOwners(t, applied, map[string]string{"before-first-apply Update": `{"f:data":{".":{},"f:a":{}}}`,
		"two Apply": `{"f:data":{"f:b":{}}}`})
}
