// Package util has those helpers of Kubernetes' test/integration/util that the tests of the suites call.
package util

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"

	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/test/integration/framework"
	"k8s.io/kubernetes/test/utils/ktesting"
)

const (
	gcSyncPeriod = 5 * time.Second
	pauseImage   = "registry.k8s.io/pause:3.10.1"
)

// TestContext is a server with a namespace.
type TestContext struct {
	Ctx       context.Context
	NS        *v1.Namespace
	ClientSet kubernetes.Interface
}

// InitTestAPIServer starts a server that ends with the test.
func InitTestAPIServer(t *testing.T, namespacePrefix string, _ any) *TestContext {
	t.Helper()
	ctx := ktesting.Init(t)
	client, _, stop := framework.StartTestServer(ctx, t, framework.TestServerSetup{})
	t.Cleanup(func() {
		ctx.Cancel("the test has ended")
		stop()
	})
	namespace := framework.CreateNamespaceOrDie(client, namespacePrefix+string(uuid.NewUUID()), t)
	return &TestContext{Ctx: ctx, NS: namespace, ClientSet: client}
}

// CreateGCController returns a function that runs a garbage collector.
func CreateGCController(
	ctx context.Context, t testing.TB, config rest.Config, shared informers.SharedInformerFactory,
) func() {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(&config)
	metadataClient := metadata.NewForConfigOrDie(&config)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	started := make(chan struct{})
	close(started)
	collector, err := garbagecollector.NewGarbageCollector(ctx, client, metadataClient, mapper,
		garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(shared, metadatainformer.NewSharedInformerFactory(metadataClient, 0)),
		started)
	if err != nil {
		t.Fatalf("no garbage collector: %v", err)
	}
	return func() {
		go wait.Until(mapper.Reset, gcSyncPeriod, ctx.Done())
		go collector.Run(ctx, 1, gcSyncPeriod)
		go collector.Sync(ctx, client.Discovery(), gcSyncPeriod)
	}
}

// PausePodConfig configures a pod of InitPausePod.
type PausePodConfig struct {
	Name, Namespace, NodeName string
	Labels                    map[string]string
}

// InitPausePod returns a pod with one container that does nothing.
func InitPausePod(config *PausePodConfig) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: config.Name, Namespace: config.Namespace, Labels: config.Labels},
		Spec: v1.PodSpec{
			NodeName:   config.NodeName,
			Containers: []v1.Container{{Name: config.Name, Image: pauseImage}},
		},
	}
}

// CreatePausePod creates a pod.
func CreatePausePod(client kubernetes.Interface, pod *v1.Pod) (*v1.Pod, error) {
	return client.CoreV1().Pods(pod.Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
}

// RemovePodFinalizers takes all finalizers away from pods that still exist.
func RemovePodFinalizers(ctx context.Context, client kubernetes.Interface, t *testing.T, pods ...v1.Pod) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": nil}})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		_, err := client.CoreV1().Pods(pod.Namespace).Patch(
			ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("finalizers of pod %s: %v", pod.Name, err)
		}
	}
}

// RemovePodFinalizersInNamespace takes all finalizers away from the pods of a namespace.
func RemovePodFinalizersInNamespace(ctx context.Context, client kubernetes.Interface, t *testing.T, namespace string) {
	t.Helper()
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("no list of the pods of %s: %v", namespace, err)
	}
	RemovePodFinalizers(ctx, client, t, pods.Items...)
}

// AddTaintToNode adds a taint.
func AddTaintToNode(client kubernetes.Interface, name string, taint v1.Taint) error {
	node, err := client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	node.Spec.Taints = append(node.Spec.Taints, taint)
	_, err = client.CoreV1().Nodes().Update(context.Background(), node, metav1.UpdateOptions{})
	return err
}

// PodIsGettingEvicted is true of a pod that is being deleted.
func PodIsGettingEvicted(client kubernetes.Interface, namespace, name string) wait.ConditionWithContextFunc {
	return func(ctx context.Context) (bool, error) {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.DeletionTimestamp != nil, err
	}
}
