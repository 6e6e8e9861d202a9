package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/pager"
)

func TestPagesAreOneConsistentSnapshot(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 25)
	maps := client.CoreV1().ConfigMaps(ns)

	first, err := maps.List(ctx, metav1.ListOptions{Limit: 10})
	must(t, err)
	if len(first.Items) != 10 || first.Continue == "" || first.RemainingItemCount == nil || *first.RemainingItemCount != 15 {
		t.Fatalf("first page: %d items, %+v", len(first.Items), first.ListMeta)
	}
	must(t, maps.Delete(ctx, "cm-020", metav1.DeleteOptions{}))
	_, err = maps.Create(ctx, configMap("cm-0105", nil), metav1.CreateOptions{})
	must(t, err)

	var names []string
	for page := first; ; {
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if page.Continue == "" {
			break
		}
		page, err = maps.List(ctx, metav1.ListOptions{Limit: 10, Continue: page.Continue})
		must(t, err)
		if page.ResourceVersion != first.ResourceVersion {
			t.Errorf("a page at revision %s, the first was at %s", page.ResourceVersion, first.ResourceVersion)
		}
	}
	if len(names) != 25 || !slices.Contains(names, "cm-020") || slices.Contains(names, "cm-0105") || !slices.IsSorted(names) {
		t.Errorf("pages: %v", names)
	}
}

func TestPager(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 23)
	pages := 0
	p := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		pages++
		return client.CoreV1().ConfigMaps(ns).List(ctx, options)
	})
	p.PageSize = 5
	count := 0
	must(t, p.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error { count++; return nil }))
	if count != 23 || pages != 5 {
		t.Errorf("%d items in %d pages", count, pages)
	}
}

// After an expired page the pager falls back to a full list.
func TestPagerSurvivesCompaction(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 12)
	expired := false
	p := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		if options.Continue != "" {
			_, err := client.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "z-"}}, metav1.CreateOptions{})
			must(t, err)
			compact(t)
		}
		list, err := client.CoreV1().ConfigMaps(ns).List(ctx, options)
		expired = expired || apierrors.IsResourceExpired(err)
		return list, err
	})
	p.PageSize = 5
	list, _, err := p.List(ctx, metav1.ListOptions{})
	must(t, err)
	if !expired {
		t.Error("the continue token outlived the compaction")
	}
	if got := meta.LenList(list); got != 13 {
		t.Errorf("%d items", got)
	}
}

func TestExpiredContinueOffersAnInconsistentOne(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 12)
	maps := client.CoreV1().ConfigMaps(ns)
	first, err := maps.List(ctx, metav1.ListOptions{Limit: 5})
	must(t, err)
	must(t, maps.Delete(ctx, "cm-000", metav1.DeleteOptions{}))
	compact(t)
	_, err = maps.List(ctx, metav1.ListOptions{Limit: 5, Continue: first.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("expired token: %v", err)
	}
	token := err.(apierrors.APIStatus).Status().ListMeta.Continue
	if token == "" {
		t.Fatal("the answer has no token to go on with")
	}
	second, err := maps.List(ctx, metav1.ListOptions{Limit: 5, Continue: token})
	must(t, err)
	if len(second.Items) != 5 || second.Items[0].Name != "cm-005" {
		t.Errorf("the inconsistent page starts elsewhere: %+v", second.Items)
	}
}

func TestSelectors(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	for name, labels := range map[string]map[string]string{
		"a": {"tier": "front", "app": "x"}, "b": {"tier": "back", "app": "x"}, "c": {"app": "y"}} {
		p := pod(name)
		p.Labels = labels
		if name == "c" {
			p.Spec.NodeName = "n1"
		}
		_, err := client.CoreV1().Pods(ns).Create(ctx, p, metav1.CreateOptions{})
		must(t, err)
	}
	for _, c := range []struct {
		name    string
		options metav1.ListOptions
		want    []string
	}{
		{"equality", metav1.ListOptions{LabelSelector: "app=x"}, []string{"a", "b"}},
		{"not equal matches the absent", metav1.ListOptions{LabelSelector: "tier!=front"}, []string{"b", "c"}},
		{"set", metav1.ListOptions{LabelSelector: "tier in (front,back),app"}, []string{"a", "b"}},
		{"absent", metav1.ListOptions{LabelSelector: "!tier"}, []string{"c"}},
		{"node", metav1.ListOptions{FieldSelector: "spec.nodeName=n1"}, []string{"c"}},
		{"phase and label", metav1.ListOptions{FieldSelector: "status.phase=Pending", LabelSelector: "app=y"}, []string{"c"}},
		{"name excluded", metav1.ListOptions{FieldSelector: "metadata.name!=a"}, []string{"b", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := client.CoreV1().Pods(ns).List(ctx, c.options)
			must(t, err)
			var names []string
			for _, item := range list.Items {
				names = append(names, item.Name)
			}
			if !slices.Equal(names, c.want) {
				t.Errorf("got %v, want %v", names, c.want)
			}
		})
	}
	_, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{FieldSelector: "spec.hostname=x"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("unknown field selector: %v", err)
	}
}

func TestResourceVersionMatch(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 3)
	maps := client.CoreV1().ConfigMaps(ns)
	at, err := maps.List(ctx, metav1.ListOptions{})
	must(t, err)
	_, err = maps.Create(ctx, configMap("later", nil), metav1.CreateOptions{})
	must(t, err)

	exact, err := maps.List(ctx, metav1.ListOptions{ResourceVersion: at.ResourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	must(t, err)
	if len(exact.Items) != 3 || exact.ResourceVersion != at.ResourceVersion {
		t.Errorf("exact: %d items at %s", len(exact.Items), exact.ResourceVersion)
	}
	notOlder, err := maps.List(ctx, metav1.ListOptions{ResourceVersion: at.ResourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	must(t, err)
	if len(notOlder.Items) != 4 {
		t.Errorf("not older than: %d items", len(notOlder.Items))
	}
	compact(t)
	_, err = maps.List(ctx, metav1.ListOptions{ResourceVersion: at.ResourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("exact at a compacted revision: %v", err)
	}
}

func TestTable(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	_, err := client.CoreV1().Pods(ns).Create(ctx, pod("one"), metav1.CreateOptions{})
	must(t, err)
	raw, err := client.CoreV1().RESTClient().Get().Namespace(ns).Resource("pods").
		SetHeader("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").
		Param("includeObject", string(metav1.IncludeMetadata)).DoRaw(ctx)
	must(t, err)
	var table metav1.Table
	must(t, json.Unmarshal(raw, &table))
	if table.Kind != "Table" || len(table.Rows) != 1 || table.ColumnDefinitions[0].Name != "Name" ||
		table.Rows[0].Cells[0] != "one" {
		t.Errorf("table: %s", raw)
	}
	var partial metav1.PartialObjectMetadata
	must(t, json.Unmarshal(table.Rows[0].Object.Raw, &partial))
	if partial.Kind != "PartialObjectMetadata" || partial.Name != "one" {
		t.Errorf("row object: %s", table.Rows[0].Object.Raw)
	}
}

func TestMetadataClient(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 2)
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	only := metadata.NewForConfigOrDie(restConfig(t)).Resource(maps).Namespace(ns)
	list, err := only.List(ctx, metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != 2 || list.Items[0].Name != "cm-000" {
		t.Errorf("metadata list: %+v", list)
	}
	one, err := only.Get(ctx, "cm-001", metav1.GetOptions{})
	must(t, err)
	if one.Name != "cm-001" {
		t.Errorf("metadata get: %+v", one)
	}
}
