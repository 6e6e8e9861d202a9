package e2e

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/utils/ptr"
)

func TestScale(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, deployments := testContext(t), client.AppsV1().Deployments(newNamespace(t, client))
		_, err := deployments.Create(ctx, deployment("shop", 3), metav1.CreateOptions{})
		must(t, err)
		current, err := deployments.GetScale(ctx, "shop", metav1.GetOptions{})
		must(t, err)
		if current.Spec.Replicas != 3 || current.Status.Selector != "app=shop" {
			t.Errorf("scale: %+v", current)
		}
		current.Spec.Replicas = 6
		after, err := deployments.UpdateScale(ctx, "shop", current, metav1.UpdateOptions{})
		must(t, err)
		if after.Spec.Replicas != 6 || after.ResourceVersion == current.ResourceVersion {
			t.Errorf("after scaling: %+v", after)
		}
		_, err = deployments.UpdateScale(ctx, "shop", current, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			t.Errorf("a stale scale: %v", err)
		}
		_, err = deployments.UpdateScale(ctx, "shop", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "shop"},
			Spec: autoscalingv1.ScaleSpec{Replicas: -1}}, metav1.UpdateOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("a negative scale: %v", err)
		}
	})
}

// Like the horizontal autoscaler: any scalable kind through discovery.
func TestPolymorphicScaleClient(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	_, err := client.AppsV1().Deployments(ns).Create(ctx, deployment("shop", 2), metav1.CreateOptions{})
	must(t, err)
	cached := memory.NewMemCacheClient(client.Discovery())
	scales, err := scale.NewForConfig(restConfig(t), restmapper.NewDeferredDiscoveryRESTMapper(cached),
		dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	must(t, err)
	target := schema.GroupResource{Group: "apps", Resource: "deployments"}
	current, err := scales.Scales(ns).Get(ctx, target, "shop", metav1.GetOptions{})
	must(t, err)
	current.Spec.Replicas = 5
	_, err = scales.Scales(ns).Update(ctx, target, current, metav1.UpdateOptions{})
	must(t, err)
	stored, err := client.AppsV1().Deployments(ns).Get(ctx, "shop", metav1.GetOptions{})
	must(t, err)
	if *stored.Spec.Replicas != 5 || stored.Generation != 2 {
		t.Errorf("stored: %+v", stored.Spec)
	}
}

func TestBinding(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, pods := testContext(t), client.CoreV1().Pods(newNamespace(t, client))
		_, err := pods.Create(ctx, pod("one"), metav1.CreateOptions{})
		must(t, err)
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"}}
		must(t, pods.Bind(ctx, binding, metav1.CreateOptions{}))
		bound, err := pods.Get(ctx, "one", metav1.GetOptions{})
		must(t, err)
		if bound.Spec.NodeName != "n1" || len(bound.Status.Conditions) != 1 || bound.Status.Conditions[0].Type != corev1.PodScheduled {
			t.Errorf("bound: %q %+v", bound.Spec.NodeName, bound.Status)
		}
		if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("bound twice: %v", err)
		}
	})
}

func TestEviction(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	pods := client.CoreV1().Pods(ns)
	for _, name := range []string{"free", "guarded"} {
		made, err := pods.Create(ctx, podOnNode(name, "n1"), metav1.CreateOptions{})
		must(t, err)
		made.Status.Phase = corev1.PodRunning
		made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		must(t, err)
	}
	budgets := client.PolicyV1().PodDisruptionBudgets(ns)
	budget, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}}}, metav1.CreateOptions{})
	must(t, err)
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation,
		CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}
	budget, err = budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{})
	must(t, err)

	evict := func(name string) error {
		return pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}})
	}
	must(t, evict("free"))
	if p, err := pods.Get(ctx, "free", metav1.GetOptions{}); err != nil || p.DeletionTimestamp == nil {
		t.Errorf("an evicted pod: %v %+v", err, p)
	}
	if err := evict("guarded"); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("against the budget: %v", err)
	}
	budget.Status.DisruptionsAllowed = 1
	_, err = budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{})
	must(t, err)
	must(t, evict("guarded"))
	budget, err = budgets.Get(ctx, "guard", metav1.GetOptions{})
	must(t, err)
	if _, noted := budget.Status.DisruptedPods["guarded"]; budget.Status.DisruptionsAllowed != 0 || !noted {
		t.Errorf("the budget after an eviction: %+v", budget.Status)
	}
}

func TestStatusAndSpecDoNotMix(t *testing.T) {
	client := clientset(t)
	ctx, pods := testContext(t), client.CoreV1().Pods(newNamespace(t, client))
	made, err := pods.Create(ctx, pod("one"), metav1.CreateOptions{})
	must(t, err)
	made.Status.Phase = corev1.PodRunning
	made.Labels["changed"] = "yes"
	viaSpec, err := pods.Update(ctx, made, metav1.UpdateOptions{})
	must(t, err)
	if viaSpec.Status.Phase != corev1.PodPending || viaSpec.Labels["changed"] != "yes" {
		t.Errorf("an update changed the status: %+v", viaSpec)
	}
	viaStatus, err := pods.Patch(ctx, "one", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"sneaked":"in"}},"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status")
	must(t, err)
	if viaStatus.Status.Phase != corev1.PodRunning {
		t.Errorf("a status patch: %+v", viaStatus)
	}
}

func TestNamespaceFinalize(t *testing.T) {
	client := clientset(t)
	ctx, name := testContext(t), newNamespace(t, client)
	must(t, client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}))
	dying, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	must(t, err)
	if dying.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("phase %s", dying.Status.Phase)
	}
	_, err = client.CoreV1().ConfigMaps(name).Create(ctx, configMap("late", nil), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("create in a terminating namespace: %v", err)
	}
	dying.Spec.Finalizers = nil
	_, err = client.CoreV1().Namespaces().Finalize(ctx, dying, metav1.UpdateOptions{})
	must(t, err)
	if _, err = client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer: %v", err)
	}
}
