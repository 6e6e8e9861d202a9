package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

func TestPatches(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	for _, c := range []struct {
		name  string
		kind  types.PatchType
		patch string
		check func(*appsv1.Deployment) bool
	}{
		{"strategic merges containers by name", types.StrategicMergePatchType,
			`{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"p:1"}]}}}}`,
			func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Containers) == 2 }},
		{"strategic replaces a list when told to", types.StrategicMergePatchType,
			`{"spec":{"template":{"spec":{"containers":[{"$patch":"replace"},{"name":"proxy","image":"p:1"}]}}}}`,
			func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Containers) == 1 }},
		{"strategic keeps only some keys of a union", types.StrategicMergePatchType,
			`{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`,
			func(d *appsv1.Deployment) bool {
				return d.Spec.Strategy.RollingUpdate == nil && d.Spec.Strategy.Type == "Recreate"
			}},
		{"merge replaces lists", types.MergePatchType,
			`{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"p:1"}]}}}}`,
			func(d *appsv1.Deployment) bool {
				return len(d.Spec.Template.Spec.Containers) == 1 && d.Spec.Template.Spec.Containers[0].Name == "proxy"
			}},
		{"merge removes by null", types.MergePatchType, `{"metadata":{"labels":null}}`,
			func(d *appsv1.Deployment) bool { return len(d.Labels) == 0 }},
		{"json adds, tests and removes", types.JSONPatchType,
			`[{"op":"test","path":"/spec/replicas","value":3},{"op":"add","path":"/metadata/annotations","value":{"a":"b"}},` +
				`{"op":"replace","path":"/spec/replicas","value":8}]`,
			func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 8 && d.Annotations["a"] == "b" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			deployments := client.AppsV1().Deployments(ns)
			_, err := deployments.Create(ctx, deployment("shop", 3), metav1.CreateOptions{})
			must(t, err)
			defer func() { must(t, deployments.Delete(ctx, "shop", metav1.DeleteOptions{})) }()
			patched, err := deployments.Patch(ctx, "shop", c.kind, []byte(c.patch), metav1.PatchOptions{})
			must(t, err)
			if !c.check(patched) {
				t.Errorf("patched: %+v %+v", patched.ObjectMeta, patched.Spec)
			}
		})
	}
}

// A two-way patch made by the library is what controllers send.
func TestComputedStrategicPatch(t *testing.T) {
	client := clientset(t)
	ctx, pods := testContext(t), client.CoreV1().Pods(newNamespace(t, client))
	before, err := pods.Create(ctx, pod("one"), metav1.CreateOptions{})
	must(t, err)
	before.Status.Conditions = []corev1.PodCondition{{Type: "A", Status: "True"}, {Type: "B", Status: "True"}}
	before, err = pods.UpdateStatus(ctx, before, metav1.UpdateOptions{})
	must(t, err)
	after := before.DeepCopy()
	after.Status.Conditions = []corev1.PodCondition{{Type: "C", Status: "False"}, {Type: "B", Status: "False"}}
	old, _ := json.Marshal(before)
	changed, _ := json.Marshal(after)
	patch, err := strategicpatch.CreateTwoWayMergePatch(old, changed, corev1.Pod{})
	must(t, err)
	patched, err := pods.Patch(ctx, "one", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	must(t, err)
	got := ""
	for _, c := range patched.Status.Conditions {
		got += fmt.Sprintf("%s=%s ", c.Type, c.Status)
	}
	if got != "C=False B=False " {
		t.Errorf("conditions %q after the patch %s", got, patch)
	}
}

func TestPatchErrors(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	maps := client.CoreV1().ConfigMaps(ns)
	createOne(t, client, ns, "one")
	_, err := maps.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"}}`), metav1.PatchOptions{})
	if !apierrors.IsConflict(err) {
		t.Errorf("patch at an old revision: %v", err)
	}
	_, err = maps.Patch(ctx, "nobody", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("patch of nothing: %v", err)
	}
	_, err = maps.Patch(ctx, "one", types.JSONPatchType, []byte(`{"not":"a list"}`), metav1.PatchOptions{})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a patch that is none: %v", err)
	}
	_, err = maps.Patch(ctx, "one", "application/nothing+json", []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("unknown kind of patch: %v", err)
	}
}

func TestConflictAndRetry(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	maps := client.CoreV1().ConfigMaps(ns)
	stale, err := maps.Create(ctx, configMap("one", map[string]string{"n": ""}), metav1.CreateOptions{})
	must(t, err)
	fresh := stale.DeepCopy()
	fresh.Data["x"] = "1"
	_, err = maps.Update(ctx, fresh, metav1.UpdateOptions{})
	must(t, err)
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		t.Fatalf("stale update: %v", err)
	}
	wantContains(t, err, "the object has been modified; please apply your changes to the latest version and try again")

	// Every writer's mark is there in the end: no update overwrote another.
	const writers = 6
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for i := range writers {
		wg.Go(func() {
			backoff := retry.DefaultRetry
			backoff.Steps = 100
			errs <- retry.RetryOnConflict(backoff, func() error {
				item, err := maps.Get(ctx, "one", metav1.GetOptions{})
				if err != nil {
					return err
				}
				item.Data["n"] += string(rune('a' + i))
				_, err = maps.Update(ctx, item, metav1.UpdateOptions{})
				return err
			})
		})
	}
	wg.Wait()
	for range writers {
		must(t, <-errs)
	}
	item, err := maps.Get(ctx, "one", metav1.GetOptions{})
	must(t, err)
	if len(item.Data["n"]) != writers {
		t.Errorf("marks of %d writers: %q", writers, item.Data["n"])
	}
}

func TestDynamicClient(t *testing.T) {
	c := restConfig(t)
	typed := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, typed)
	client, err := dynamic.NewForConfig(c)
	must(t, err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "batch", Kind: "Job"}, "v1")
	must(t, err)
	jobs := client.Resource(mapping.Resource).Namespace(ns)

	created, err := jobs.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "once"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
			"containers": []any{map[string]any{"name": "main", "image": "a:1"}}}}}}}, metav1.CreateOptions{})
	must(t, err)
	must(t, unstructured.SetNestedField(created.Object, int64(4), "spec", "parallelism"))
	updated, err := jobs.Update(ctx, created, metav1.UpdateOptions{})
	must(t, err)
	if n, _, _ := unstructured.NestedInt64(updated.Object, "spec", "parallelism"); n != 4 || updated.GetGeneration() != 2 {
		t.Errorf("updated: %v", updated.Object)
	}
	must(t, unstructured.SetNestedField(updated.Object, int64(1), "status", "active"))
	_, err = jobs.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	must(t, err)
	list, err := jobs.List(ctx, metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != 1 || list.GetKind() != "JobList" || list.Items[0].GetKind() != "Job" {
		t.Errorf("list: %v", list.Object)
	}
	must(t, jobs.Delete(ctx, "once", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}))
	if _, err = jobs.Get(ctx, "once", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
}
