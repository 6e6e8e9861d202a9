package e2e

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// mapInformer is a shared informer of the ConfigMaps of one namespace that counts its events.
type mapInformer struct {
	lister listers.ConfigMapNamespaceLister
	mu     sync.Mutex
	events map[string]int
}

func startInformer(t *testing.T, client kubernetes.Interface, ns string) *mapInformer {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
	maps := factory.Core().V1().ConfigMaps()
	m := &mapInformer{lister: maps.Lister().ConfigMaps(ns), events: map[string]int{}}
	_, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { m.count("add") },
		UpdateFunc: func(any, any) { m.count("update") },
		DeleteFunc: func(any) { m.count("delete") },
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(testContext(t).Done(), maps.Informer().HasSynced) {
		t.Fatal("the informer did not sync")
	}
	return m
}

// waitForOneMore makes an object and waits until the informer has it. A watch that ends within its first second without
// an event makes an informer list again; after this it resumes.
func (m *mapInformer) waitForOneMore(t *testing.T, client kubernetes.Interface, ns, name string) {
	t.Helper()
	createOne(t, client, ns, name)
	eventually(t, "the addition of "+name, func() bool { _, err := m.lister.Get(name); return err == nil })
}

func (m *mapInformer) count(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[what]++
}

func (m *mapInformer) saw(what string, n int) func() bool {
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.events[what] == n
	}
}

func (m *mapInformer) names(t *testing.T) map[string]string {
	t.Helper()
	items, err := m.lister.List(labels.Everything())
	must(t, err)
	names := map[string]string{}
	for _, item := range items {
		names[item.Name] = item.ResourceVersion
	}
	return names
}

func TestInformerFollowsEveryChange(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, ns := testContext(t), newNamespace(t, client)
		createConfigMaps(t, client, ns, 5)
		m := startInformer(t, client, ns)
		if n := len(m.names(t)); n != 5 {
			t.Fatalf("%d of 5 after the sync", n)
		}
		createOne(t, client, ns, "more")
		item, err := client.CoreV1().ConfigMaps(ns).Get(ctx, "cm-001", metav1.GetOptions{})
		must(t, err)
		item.Data = map[string]string{"a": "1"}
		_, err = client.CoreV1().ConfigMaps(ns).Update(ctx, item, metav1.UpdateOptions{})
		must(t, err)
		must(t, client.CoreV1().ConfigMaps(ns).Delete(ctx, "cm-002", metav1.DeleteOptions{}))
		eventually(t, "six additions", m.saw("add", 6))
		eventually(t, "one update", m.saw("update", 1))
		eventually(t, "one deletion", m.saw("delete", 1))
	})
}

func TestInformerUsesAStreamingList(t *testing.T) {
	c := configWithType(t, protobufType)
	l := throughLine(c)
	client := newClientset(t, c)
	ns := newNamespace(t, client)
	createConfigMaps(t, client, ns, 3)
	startInformer(t, client, ns)
	streamed := l.Count(func(r request) bool {
		return isWatch(r) && r.query.Get("sendInitialEvents") == "true" && r.code == http.StatusOK
	})
	listed := l.Count(func(r request) bool { return r.method == http.MethodGet && !isWatch(r) })
	if streamed != 1 || listed != 0 {
		t.Errorf("%d streaming lists and %d plain ones: %+v", streamed, listed, l.requests)
	}
}

// While the line is cut the history is compacted, so that the informer cannot resume and has to list again; it must
// notice the changes and the deletion that it has missed.
func TestInformerListsAgainAfterA410(t *testing.T) {
	eachContentType(t, func(t *testing.T, direct *kubernetes.Clientset) {
		c := configWithType(t, protobufType)
		l := throughLine(c)
		ctx, ns := testContext(t), newNamespace(t, direct)
		createConfigMaps(t, direct, ns, 4)
		m := startInformer(t, newClientset(t, c), ns)

		m.waitForOneMore(t, direct, ns, "warm")
		l.Cut()
		maps := direct.CoreV1().ConfigMaps(ns)
		must(t, maps.Delete(ctx, "cm-000", metav1.DeleteOptions{}))
		item, err := maps.Get(ctx, "cm-001", metav1.GetOptions{})
		must(t, err)
		item.Data = map[string]string{"a": "1"}
		item, err = maps.Update(ctx, item, metav1.UpdateOptions{})
		must(t, err)
		createOne(t, direct, ns, "new")
		compact(t)
		l.Mend()

		eventually(t, "one deletion", m.saw("delete", 1))
		eventually(t, "six additions", m.saw("add", 6))
		eventually(t, "the update", func() bool { return m.names(t)["cm-001"] == item.ResourceVersion })
		if n := l.Count(isList); n != 2 {
			t.Errorf("%d lists: it was to be refused with 410 and to list once more", n)
		}
	})
}

// Without a compaction a cut connection costs only a new watch.
func TestInformerResumesWhereItWas(t *testing.T) {
	c := configWithType(t, protobufType)
	l := throughLine(c)
	client, direct := newClientset(t, c), clientset(t)
	ns := newNamespace(t, direct)
	createConfigMaps(t, direct, ns, 2)
	m := startInformer(t, client, ns)
	for _, name := range []string{"x", "y", "z"} {
		m.waitForOneMore(t, direct, ns, "before-"+name)
		l.Cut()
		createOne(t, direct, ns, name)
		l.Mend()
		eventually(t, "the addition of "+name, func() bool { _, err := m.lister.Get(name); return err == nil })
	}
	if n := l.Count(isList); n != 1 {
		t.Errorf("%d lists instead of one", n)
	}
}

func TestInformerOfAllNamespacesWithASelector(t *testing.T) {
	client := clientset(t)
	ctx, first, second := testContext(t), newNamespace(t, client), newNamespace(t, client)
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Minute, informers.WithTweakListOptions(
		func(options *metav1.ListOptions) { options.LabelSelector = "pick=" + first }))
	pods := factory.Core().V1().Pods()
	lister := pods.Lister()
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop); factory.Shutdown() })
	factory.Start(stop)
	factory.WaitForCacheSync(ctx.Done())
	for _, ns := range []string{first, second} {
		for name, label := range map[string]string{"in": first, "out": "no"} {
			p := pod(name)
			p.Labels = map[string]string{"pick": label}
			_, err := client.CoreV1().Pods(ns).Create(ctx, p, metav1.CreateOptions{})
			must(t, err)
		}
	}
	var seen []*corev1.Pod
	eventually(t, "a pod of each namespace", func() bool {
		seen, _ = lister.List(labels.Everything())
		return len(seen) == 2
	})
	if seen[0].Name != "in" || seen[1].Name != "in" || seen[0].Namespace == seen[1].Namespace {
		t.Errorf("seen: %+v", seen)
	}
}
