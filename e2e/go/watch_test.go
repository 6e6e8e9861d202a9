package e2e

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
)

// next is the next event of a watch, of the type wanted.
func next(t *testing.T, w watch.Interface, want watch.EventType) metav1.Object {
	t.Helper()
	event := receive(t, "an event "+string(want), w.ResultChan())
	if event.Type != want {
		t.Fatalf("event %s (%+v), want %s", event.Type, event.Object, want)
	}
	object, err := meta.Accessor(event.Object)
	must(t, err)
	return object
}

func startWatch(t *testing.T, client kubernetes.Interface, ns string, options metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := client.CoreV1().ConfigMaps(ns).Watch(testContext(t), options)
	must(t, err)
	t.Cleanup(w.Stop)
	return w
}

func TestWatchFromARevision(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, ns := testContext(t), newNamespace(t, client)
		maps := client.CoreV1().ConfigMaps(ns)
		createConfigMaps(t, client, ns, 1)
		list, err := maps.List(ctx, metav1.ListOptions{})
		must(t, err)

		one, err := maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
		must(t, err)
		one.Data = map[string]string{"a": "1"}
		changed, err := maps.Update(ctx, one, metav1.UpdateOptions{})
		must(t, err)
		must(t, maps.Delete(ctx, "one", metav1.DeleteOptions{}))

		w := startWatch(t, client, ns, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if got := next(t, w, watch.Added); got.GetName() != "one" || got.GetResourceVersion() != one.ResourceVersion {
			t.Errorf("added: %+v", got)
		}
		if got := next(t, w, watch.Modified); got.GetResourceVersion() != changed.ResourceVersion {
			t.Errorf("modified: %+v", got)
		}
		// The event carries the revision of the deletion itself.
		if got := next(t, w, watch.Deleted); revision(t, got.GetResourceVersion()) <= revision(t, changed.ResourceVersion) {
			t.Errorf("deleted: %+v", got)
		}
	})
}

func TestWatchFromUnsetAndZeroBeginsWithWhatIsThere(t *testing.T) {
	client := clientset(t)
	ns := newNamespace(t, client)
	createConfigMaps(t, client, ns, 2)
	for _, revision := range []string{"", "0"} {
		w := startWatch(t, client, ns, metav1.ListOptions{ResourceVersion: revision})
		next(t, w, watch.Added)
		next(t, w, watch.Added)
	}
}

func TestStreamingListEndsWithABookmark(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ns := newNamespace(t, client)
		createConfigMaps(t, client, ns, 3)
		w := startWatch(t, client, ns, metav1.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
		var newest int64
		for range 3 {
			newest = max(newest, revision(t, next(t, w, watch.Added).GetResourceVersion()))
		}
		mark := next(t, w, watch.Bookmark)
		if mark.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" || revision(t, mark.GetResourceVersion()) < newest {
			t.Errorf("the bookmark at the end of the initial events: %+v", mark)
		}
		createOne(t, client, ns, "later")
		if got := next(t, w, watch.Added); got.GetName() != "later" {
			t.Errorf("after the bookmark: %+v", got)
		}
	})
}

func createOne(t *testing.T, client kubernetes.Interface, ns, name string) {
	t.Helper()
	_, err := client.CoreV1().ConfigMaps(ns).Create(testContext(t), configMap(name, nil), metav1.CreateOptions{})
	must(t, err)
}

// Bookmarks carry a quiet watcher forward: changes elsewhere raise its revision too.
func TestBookmarkBeforeTheTimeout(t *testing.T) {
	client := clientset(t)
	ns, other := newNamespace(t, client), newNamespace(t, client)
	list, err := client.CoreV1().ConfigMaps(ns).List(testContext(t), metav1.ListOptions{})
	must(t, err)
	w := startWatch(t, client, ns, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true,
		TimeoutSeconds: ptr.To[int64](3)})
	createOne(t, client, other, "elsewhere")
	if mark := next(t, w, watch.Bookmark); revision(t, mark.GetResourceVersion()) <= revision(t, list.ResourceVersion) {
		t.Errorf("bookmark at %s, the list was at %s", mark.GetResourceVersion(), list.ResourceVersion)
	}
}

func TestWatchEndsAtItsTimeout(t *testing.T) {
	client := clientset(t)
	ns := newNamespace(t, client)
	began := time.Now()
	w := startWatch(t, client, ns, metav1.ListOptions{TimeoutSeconds: ptr.To[int64](1)})
	select {
	case event, open := <-w.ResultChan():
		if open {
			t.Fatalf("an event came: %+v", event)
		}
	case <-time.After(waitMax):
		t.Fatal("the watch did not end")
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("it ended after %v", took)
	}
}

func TestWatchOfACompactedRevisionIsExpired(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ns := newNamespace(t, client)
		createConfigMaps(t, client, ns, 1)
		list, err := client.CoreV1().ConfigMaps(ns).List(testContext(t), metav1.ListOptions{})
		must(t, err)
		createOne(t, client, ns, "a")
		createOne(t, client, ns, "b")
		compact(t)
		// Either the answer itself is the error, or the first event of the stream.
		w, err := client.CoreV1().ConfigMaps(ns).Watch(testContext(t), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err == nil {
			event := receive(t, "the error event", w.ResultChan())
			w.Stop()
			if event.Type != watch.Error {
				t.Fatalf("event %+v", event)
			}
			err = apierrors.FromObject(event.Object)
		}
		if !apierrors.IsResourceExpired(err) {
			t.Errorf("watch of a compacted revision: %v", err)
		}
	})
}

func TestSelectorsOnAWatch(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	maps := client.CoreV1().ConfigMaps(ns)
	w := startWatch(t, client, ns, metav1.ListOptions{LabelSelector: "in=yes"})
	item, err := maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	must(t, err)
	for _, step := range []struct {
		label string
		want  watch.EventType
	}{{"yes", watch.Added}, {"no", watch.Deleted}, {"yes", watch.Added}} {
		item.Labels = map[string]string{"in": step.label}
		item, err = maps.Update(ctx, item, metav1.UpdateOptions{})
		must(t, err)
		if got := next(t, w, step.want); got.GetResourceVersion() != item.ResourceVersion {
			t.Errorf("%s at %s, the change was at %s", step.want, got.GetResourceVersion(), item.ResourceVersion)
		}
	}
}

// RetryWatcher resumes at the last revision it saw; no event may be missing or repeated.
func TestRetryWatcherHasNoGaps(t *testing.T) {
	c := configWithType(t, protobufType)
	l := throughLine(c)
	client, direct := newClientset(t, c), clientset(t)
	ns := newNamespace(t, direct)
	createConfigMaps(t, direct, ns, 1)
	list, err := direct.CoreV1().ConfigMaps(ns).List(testContext(t), metav1.ListOptions{})
	must(t, err)
	w, err := toolswatch.NewRetryWatcherWithContext(testContext(t), list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().ConfigMaps(ns).Watch(ctx, options)
		}})
	must(t, err)
	t.Cleanup(w.Stop)
	item, err := direct.CoreV1().ConfigMaps(ns).Get(testContext(t), "cm-000", metav1.GetOptions{})
	must(t, err)
	var versions []string
	for i := range 60 {
		item.Data = map[string]string{"n": string(rune('a' + i))}
		item, err = direct.CoreV1().ConfigMaps(ns).Update(testContext(t), item, metav1.UpdateOptions{})
		must(t, err)
		versions = append(versions, item.ResourceVersion)
		if i%20 == 10 {
			l.Cut()
			l.Mend()
		}
	}
	for _, version := range versions {
		if got := next(t, w, watch.Modified); got.GetResourceVersion() != version {
			t.Fatalf("event of revision %s, want %s", got.GetResourceVersion(), version)
		}
	}
	if n := l.Count(isWatch); n < 2 {
		t.Errorf("the line was cut, yet there was only %d watch", n)
	}
}
