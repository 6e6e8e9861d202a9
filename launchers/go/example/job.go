package example

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// job returns the Job of the example: one pod, deleted some time after it has finished.
func job(name string, timeToLive time.Duration) *batchv1.Job {
	seconds := int32(timeToLive.Seconds())
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: &seconds,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "report:1"}},
			}},
		},
	}
}
