package e2e

import (
	"context"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const toyFinalizer = "example.test/toy"

// toy keeps one ReplicaSet for every ConfigMap with the label toy=yes, with data.replicas replicas, and writes the
// ReplicaSet's ready count back into an annotation: desired state, owned object, status, finalizer.
type toy struct{ client.Client }

func (r toy) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var spec corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &spec); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if spec.Labels["toy"] != "yes" {
		return reconcile.Result{}, nil
	}
	owned := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: spec.Namespace, Name: spec.Name}}
	if !spec.DeletionTimestamp.IsZero() {
		if err := r.Delete(ctx, owned); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
		controllerutil.RemoveFinalizer(&spec, toyFinalizer)
		return reconcile.Result{}, r.Update(ctx, &spec)
	}
	if controllerutil.AddFinalizer(&spec, toyFinalizer) {
		if err := r.Update(ctx, &spec); err != nil {
			return reconcile.Result{}, err
		}
	}
	replicas, err := strconv.Atoi(spec.Data["replicas"])
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	_, err = controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		labels := map[string]string{"app": spec.Name}
		owned.Spec.Replicas = ptr.To(int32(replicas))
		owned.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		owned.Spec.Template.Labels = labels
		if len(owned.Spec.Template.Spec.Containers) == 0 {
			owned.Spec.Template.Spec.Containers = pod(spec.Name).Spec.Containers
		}
		return controllerutil.SetControllerReference(&spec, owned, scheme.Scheme)
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	before := spec.DeepCopy()
	metav1.SetMetaDataAnnotation(&spec.ObjectMeta, "ready", strconv.Itoa(int(owned.Status.ReadyReplicas)))
	return reconcile.Result{}, r.Patch(ctx, &spec, client.MergeFrom(before))
}

// startManager runs the toy controller over one namespace until the test ends.
func startManager(t *testing.T, ns string) client.Client {
	t.Helper()
	log.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(restConfig(t), ctrl.Options{
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	must(t, err)
	must(t, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&appsv1.ReplicaSet{}).
		Complete(toy{manager.GetClient()}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	if !manager.GetCache().WaitForCacheSync(testContext(t)) {
		t.Fatal("the manager's cache did not sync")
	}
	return manager.GetClient()
}

func TestManagerWithAToyController(t *testing.T) {
	direct := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, direct)
	cached := startManager(t, ns)
	replicaSet := func() (*appsv1.ReplicaSet, error) {
		return direct.AppsV1().ReplicaSets(ns).Get(ctx, "shop", metav1.GetOptions{})
	}

	spec := configMap("shop", map[string]string{"replicas": "2"})
	spec.Labels = map[string]string{"toy": "yes"}
	_, err := direct.CoreV1().ConfigMaps(ns).Create(ctx, spec, metav1.CreateOptions{})
	must(t, err)
	eventually(t, "the ReplicaSet", func() bool { rs, err := replicaSet(); return err == nil && *rs.Spec.Replicas == 2 })
	rs, err := replicaSet()
	must(t, err)
	if owner := metav1.GetControllerOf(rs); owner == nil || owner.Kind != "ConfigMap" || owner.Name != "shop" {
		t.Errorf("owner: %+v", owner)
	}

	// A change by another client is reverted: the owned object is watched.
	rs.Spec.Replicas = ptr.To[int32](7)
	_, err = direct.AppsV1().ReplicaSets(ns).Update(ctx, rs, metav1.UpdateOptions{})
	must(t, err)
	eventually(t, "the change is put right", func() bool { rs, err := replicaSet(); return err == nil && *rs.Spec.Replicas == 2 })

	// The status of the owned object is copied to the owner.
	rs, err = replicaSet()
	must(t, err)
	rs.Status.Replicas, rs.Status.ReadyReplicas = 2, 2
	_, err = direct.AppsV1().ReplicaSets(ns).UpdateStatus(ctx, rs, metav1.UpdateOptions{})
	must(t, err)
	eventually(t, "the count of ready ones, through the cache", func() bool {
		var got corev1.ConfigMap
		err := cached.Get(ctx, client.ObjectKey{Namespace: ns, Name: "shop"}, &got)
		return err == nil && got.Annotations["ready"] == "2"
	})

	// The finalizer lets the controller clean up first.
	must(t, direct.CoreV1().ConfigMaps(ns).Delete(ctx, "shop", metav1.DeleteOptions{}))
	eventually(t, "both are gone", func() bool {
		_, rsErr := replicaSet()
		_, cmErr := direct.CoreV1().ConfigMaps(ns).Get(ctx, "shop", metav1.GetOptions{})
		return apierrors.IsNotFound(rsErr) && apierrors.IsNotFound(cmErr)
	})
}

func TestCacheReadsWithIndexesAndSelectors(t *testing.T) {
	direct := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, direct)
	manager, err := ctrl.NewManager(restConfig(t), ctrl.Options{Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}}})
	must(t, err)
	must(t, manager.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*corev1.Pod).Spec.NodeName}
	}))
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- manager.Start(running) }()
	t.Cleanup(func() { cancel(); must(t, <-ended) })
	for name, node := range map[string]string{"a": "n1", "b": "n2", "c": "n1"} {
		_, err := direct.CoreV1().Pods(ns).Create(ctx, podOnNode(name, node), metav1.CreateOptions{})
		must(t, err)
	}
	var pods corev1.PodList
	eventually(t, "two pods on n1 in the cache", func() bool {
		return manager.GetClient().List(ctx, &pods, client.InNamespace(ns), client.MatchingFields{"spec.nodeName": "n1"}) == nil &&
			len(pods.Items) == 2
	})
	must(t, manager.GetClient().List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{"app": "b"}))
	must(t, manager.GetClient().Status().Patch(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}},
		client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Running"}}`))))
	eventually(t, "the new phase in the cache", func() bool {
		var a corev1.Pod
		return manager.GetClient().Get(ctx, client.ObjectKey{Namespace: ns, Name: "a"}, &a) == nil &&
			a.Status.Phase == corev1.PodRunning
	})
}
