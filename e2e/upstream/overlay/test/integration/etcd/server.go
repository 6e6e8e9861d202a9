package etcd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"k8s.io/kubernetes/test/terrarium"
)

// Resource is a resource that can be created and read.
type Resource struct {
	Mapping             *meta.RESTMapping
	HasDeleteCollection bool
}

// GetResources returns those of the server's resources that can be created and read.
func GetResources(t *testing.T, lists []*metav1.APIResourceList) []Resource {
	t.Helper()
	var found []Resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			isSubresource := strings.Contains(resource.Name, "/")
			if isSubresource || !slices.Contains(resource.Verbs, "get") || !slices.Contains(resource.Verbs, "create") {
				continue
			}
			kind := version.WithKind(resource.Kind)
			if resource.Group != "" || resource.Version != "" {
				kind = schema.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}
			}
			scope := meta.RESTScopeRoot
			if resource.Namespaced {
				scope = meta.RESTScopeNamespace
			}
			found = append(found, Resource{
				Mapping: &meta.RESTMapping{
					Resource: version.WithResource(resource.Name), GroupVersionKind: kind, Scope: scope,
				},
				HasDeleteCollection: slices.Contains(resource.Verbs, "deletecollection"),
			})
		}
	}
	return found
}

// JSONToUnstructured returns the object of a text without apiVersion and kind, and a client for its resource.
func JSONToUnstructured(
	text, namespace string, mapping *meta.RESTMapping, client dynamic.Interface,
) (dynamic.ResourceInterface, *unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		return nil, nil, err
	}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	if mapping.Scope == meta.RESTScopeRoot {
		namespace = ""
	}
	return client.Resource(mapping.Resource).Namespace(namespace), object, nil
}

// CreateTestCRDs creates CustomResourceDefinitions and waits until discovery lists them. A server without
// CustomResourceDefinitions is left as it is: its tests are about the resources that it does list.
func CreateTestCRDs(
	t *testing.T, client clientset.Interface, _ bool, definitions ...*apiextensionsv1.CustomResourceDefinition,
) {
	t.Helper()
	if terrarium.Enabled() && !terrarium.HasCustomResources(client.Discovery()) {
		return
	}
	for _, definition := range definitions {
		_, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(
			context.Background(), definition, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("no CustomResourceDefinition %s: %v", definition.Name, err)
		}
		err = wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, wait.ForeverTestTimeout, true,
			func(context.Context) (bool, error) { return isServed(client, definition), nil })
		if err != nil {
			t.Fatalf("%s is not in discovery: %v", definition.Name, err)
		}
	}
}

func isServed(client clientset.Interface, definition *apiextensionsv1.CustomResourceDefinition) bool {
	for _, version := range definition.Spec.Versions {
		if !version.Served {
			continue
		}
		list, err := client.Discovery().ServerResourcesForGroupVersion(definition.Spec.Group + "/" + version.Name)
		if err != nil || !slices.ContainsFunc(list.APIResources, func(resource metav1.APIResource) bool {
			return resource.Name == definition.Spec.Names.Plural
		}) {
			return false
		}
	}
	return true
}
