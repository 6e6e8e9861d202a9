// Package integration has those helpers of Kubernetes' test/integration that the tests of the suites call.
package integration

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// DeletePodOrErrorf deletes a pod; the test goes on if it cannot.
func DeletePodOrErrorf(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	err := client.CoreV1().Pods(namespace).Delete(context.Background(), name, metav1.DeleteOptions{})
	if err != nil {
		t.Errorf("pod %s cannot be deleted: %v", name, err)
	}
}

// WaitForPodToDisappear waits until there is no such pod.
func WaitForPodToDisappear(pods corev1.PodInterface, name string, interval, timeout time.Duration) error {
	return wait.PollUntilContextTimeout(context.Background(), interval, timeout, true,
		func(ctx context.Context) (bool, error) {
			_, err := pods.Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return false, err
		})
}
