package framework

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes"
)

// A test's admission plugin is a Go value, and the server is another process. The plugins of the suites refuse pods
// after a number of them, as a quota does: StartTestServer counts how many the plugin admits, and CreateNamespaceOrDie
// makes a quota of as many pods, whose usage is written once and does not change.

const countedPods = 1000

// admittedPods returns how many pods the plugin admits, and fails for one that does something else.
func admittedPods(plugin admission.Interface) (int, error) {
	validating, ok := plugin.(admission.ValidationInterface)
	if !ok || !validating.Handles(admission.Create) {
		return 0, fmt.Errorf("the test needs a kube-apiserver with the admission plugin %T", plugin)
	}
	version := schema.GroupVersion{Version: "v1"}
	for count := range countedPods {
		attributes := admission.NewAttributesRecord(&v1.Pod{}, nil, version.WithKind("Pod"), metav1.NamespaceDefault,
			fmt.Sprint(count), version.WithResource("pods"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
		if validating.Validate(context.Background(), attributes, nil) != nil {
			return count, nil
		}
	}
	return 0, fmt.Errorf("the admission plugin %T admits %d pods", plugin, countedPods)
}

// limitPods makes a quota with its status, which an admission plugin reads and no controller of the suites writes.
func limitPods(client kubernetes.Interface, namespace string, limit int) error {
	quotas := client.CoreV1().ResourceQuotas(namespace)
	hard := v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(int64(limit), resource.DecimalSI)}
	quota := &v1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "admission"}, Spec: v1.ResourceQuotaSpec{Hard: hard}}
	created, err := quotas.Create(context.Background(), quota, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status.Hard = hard
	created.Status.Used = v1.ResourceList{v1.ResourcePods: *resource.NewQuantity(0, resource.DecimalSI)}
	_, err = quotas.UpdateStatus(context.Background(), created, metav1.UpdateOptions{})
	return err
}
