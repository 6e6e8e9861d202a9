package e2e

import (
	"context"
	"maps"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func runtimeClient(t *testing.T) client.Client {
	t.Helper()
	log.SetLogger(logr.Discard())
	made, err := client.New(restConfig(t), client.Options{})
	must(t, err)
	return made
}

func TestRuntimeClientApplies(t *testing.T) {
	direct, c := clientset(t), runtimeClient(t)
	ctx, ns := testContext(t), newNamespace(t, direct)
	applied := applyDeployment("shop", ns)
	must(t, c.Apply(ctx, applied, client.FieldOwner("one")))
	if applied.UID == nil || ptr.Deref(applied.Spec.ProgressDeadlineSeconds, 0) != 600 {
		t.Errorf("the configuration is the server's object afterwards: %+v", applied)
	}
	other := func() *applyappsv1.DeploymentApplyConfiguration {
		return applyappsv1.Deployment("shop", ns).WithSpec(applyappsv1.DeploymentSpec().WithReplicas(5))
	}
	err := c.Apply(ctx, other(), client.FieldOwner("two"))
	if !apierrors.IsConflict(err) {
		t.Errorf("another value of a field: %v", err)
	}
	wantMessage(t, err, `Apply failed with 1 conflict: conflict with "one": .spec.replicas`)
	must(t, c.Apply(ctx, other(), client.FieldOwner("two"), client.ForceOwnership))

	must(t, c.Status().Apply(ctx, applyappsv1.Deployment("shop", ns).
		WithStatus(applyappsv1.DeploymentStatus().WithReplicas(4)), client.FieldOwner("keeper")))
	must(t, c.SubResource("scale").Apply(ctx, applyappsv1.Deployment("shop", ns), client.FieldOwner("scaler"),
		client.ForceOwnership, &client.SubResourceApplyOptions{SubResourceBody: applyautoscalingv1.Scale().
			WithName("shop").WithNamespace(ns).WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(7))}))

	var stored appsv1.Deployment
	must(t, c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "shop"}, &stored))
	if *stored.Spec.Replicas != 7 || stored.Status.Replicas != 4 {
		t.Errorf("stored: %+v", stored)
	}
	got := owners(t, &stored)
	delete(got, "one Apply")
	if !maps.Equal(got, map[string]string{"scaler Apply scale": `{"f:spec":{"f:replicas":{}}}`,
		"keeper Apply status": `{"f:status":{"f:replicas":{}}}`}) {
		t.Errorf("owners: %v", got)
	}
}

func TestRuntimeClientAppliesUnstructuredObjects(t *testing.T) {
	direct, c := clientset(t), client.WithFieldOwner(runtimeClient(t), "me")
	ctx, ns := testContext(t), newNamespace(t, direct)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings", "namespace": ns}, "data": map[string]any{"a": "1"}}}
	must(t, c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object)))
	if object.GetUID() == "" {
		t.Errorf("applied: %v", object.Object)
	}
	// The older form: a patch of a kind of its own.
	typed := configMap("settings", map[string]string{"b": "2"})
	typed.Namespace, typed.TypeMeta = ns, metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	must(t, c.Patch(ctx, typed, client.Apply)) //nolint:staticcheck // deprecated, and still what most controllers call
	if !maps.Equal(typed.Data, map[string]string{"b": "2"}) {
		t.Errorf("a was left out: %v", typed.Data)
	}
	wantOwners(t, typed, map[string]string{"me Apply": `{"f:data":{"f:b":{}}}`})
	typed.Data["c"] = "3"
	must(t, c.Update(ctx, typed))
	wantOwners(t, typed, map[string]string{"me Apply": `{"f:data":{"f:b":{}}}`, "me Update": `{"f:data":{"f:c":{}}}`})
}

// applyingToy keeps one ReplicaSet for every ConfigMap, as toy does, by applying it again in every reconciliation.
type applyingToy struct {
	client.Client
	reconciled chan string
}

func (r applyingToy) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var spec corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &spec); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	replicas, err := strconv.Atoi(spec.Data["replicas"])
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	labels := map[string]string{"app": spec.Name}
	owned := applyappsv1.ReplicaSet(spec.Name, spec.Namespace).
		WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion("v1").WithKind("ConfigMap").
			WithName(spec.Name).WithUID(spec.UID).WithController(true)).
		WithSpec(applyappsv1.ReplicaSetSpec().WithReplicas(int32(replicas)).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(applycorev1.PodTemplateSpec().WithLabels(labels).
				WithSpec(applycorev1.PodSpec().WithContainers(
					applycorev1.Container().WithName("main").WithImage("example.test/app:1")))))
	if err := r.Apply(ctx, owned, client.FieldOwner("toy"), client.ForceOwnership); err != nil {
		return reconcile.Result{}, err
	}
	r.reconciled <- spec.ResourceVersion
	return reconcile.Result{}, nil
}

func TestReconcilerThatApplies(t *testing.T) {
	direct := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, direct)
	configMaps, replicaSets := direct.CoreV1().ConfigMaps(ns), direct.AppsV1().ReplicaSets(ns)
	manager, err := ctrl.NewManager(restConfig(t), ctrl.Options{
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	must(t, err)
	reconciled := make(chan string, 1000)
	must(t, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&appsv1.ReplicaSet{}).
		Complete(applyingToy{manager.GetClient(), reconciled}))
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- manager.Start(running) }()
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	seen := func(resourceVersion string) {
		t.Helper()
		for receive(t, "the reconciliation of revision "+resourceVersion, reconciled) != resourceVersion {
		}
	}

	spec, err := configMaps.Create(ctx, configMap("shop", map[string]string{"replicas": "2"}), metav1.CreateOptions{})
	must(t, err)
	seen(spec.ResourceVersion)
	made, err := replicaSets.Get(ctx, "shop", metav1.GetOptions{})
	must(t, err)
	if _, found := owners(t, made)["toy Apply"]; *made.Spec.Replicas != 2 || !found {
		t.Errorf("applied: %+v", made)
	}

	// Each change of the ConfigMap is a reconciliation. An apply that changes nothing must not write, else it wakes
	// the controller again and again.
	for _, note := range []string{"a", "b", "c"} {
		spec, err = configMaps.Patch(ctx, "shop", types.MergePatchType, []byte(`{"data":{"note":"`+note+`"}}`), metav1.PatchOptions{})
		must(t, err)
		seen(spec.ResourceVersion)
	}
	after, err := replicaSets.Get(ctx, "shop", metav1.GetOptions{})
	must(t, err)
	if after.ResourceVersion != made.ResourceVersion {
		t.Errorf("four applies of one configuration made the revisions %s and %s", made.ResourceVersion, after.ResourceVersion)
	}

	// What another client changes is put right where the controller owns it, and stays elsewhere.
	after.Labels, after.Spec.Replicas = map[string]string{"team": "blue"}, ptr.To[int32](9)
	_, err = replicaSets.Update(ctx, after, metav1.UpdateOptions{})
	must(t, err)
	eventually(t, "the change is put right", func() bool {
		after, err = replicaSets.Get(ctx, "shop", metav1.GetOptions{})
		return err == nil && *after.Spec.Replicas == 2
	})
	if after.Labels["team"] != "blue" {
		t.Errorf("labels of another client: %v", after.Labels)
	}
}
