// Package eviction has the one function of the kubelet's that the pod garbage collector calls, without the kubelet.
package eviction

import v1 "k8s.io/api/core/v1"

// PodIsEvicted reports whether a kubelet has ended the pod to get resources back.
func PodIsEvicted(status v1.PodStatus) bool {
	return status.Phase == v1.PodFailed && status.Reason == "Evicted"
}
