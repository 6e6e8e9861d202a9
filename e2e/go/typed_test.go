package e2e

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// eachContentType runs a test with clients that speak protobuf and clients that speak JSON.
func eachContentType(t *testing.T, test func(t *testing.T, client *kubernetes.Clientset)) {
	for name, contentType := range map[string]string{"protobuf": protobufType, "json": jsonType} {
		t.Run(name, func(t *testing.T) { test(t, newClientset(t, configWithType(t, contentType))) })
	}
}

func TestDeploymentLife(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, deployments := testContext(t), client.AppsV1().Deployments(newNamespace(t, client))

		created, err := deployments.Create(ctx, deployment("shop", 3), metav1.CreateOptions{})
		must(t, err)
		if created.UID == "" || created.ResourceVersion == "" || created.Generation != 1 || created.CreationTimestamp.IsZero() {
			t.Errorf("metadata not filled in: %+v", created.ObjectMeta)
		}
		if *created.Spec.ProgressDeadlineSeconds != 600 || created.Spec.Strategy.RollingUpdate.MaxSurge.String() != "25%" {
			t.Errorf("defaults not filled in: %+v", created.Spec)
		}

		created.Spec.Replicas = ptr.To[int32](5)
		updated, err := deployments.Update(ctx, created, metav1.UpdateOptions{})
		must(t, err)
		if updated.Generation != 2 || updated.ResourceVersion == created.ResourceVersion || *updated.Spec.Replicas != 5 {
			t.Errorf("update: %+v", updated.ObjectMeta)
		}

		updated.Spec.Replicas = ptr.To[int32](9)
		updated.Status.ObservedGeneration, updated.Status.Replicas = 2, 5
		withStatus, err := deployments.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
		must(t, err)
		if *withStatus.Spec.Replicas != 5 || withStatus.Status.Replicas != 5 || withStatus.Generation != 2 {
			t.Errorf("a status update touched more than the status: %+v", withStatus)
		}

		read, err := deployments.Get(ctx, "shop", metav1.GetOptions{})
		must(t, err)
		if !equality.Semantic.DeepEqual(read, withStatus) {
			t.Errorf("get differs from what the last write answered:\n%+v\n%+v", read, withStatus)
		}

		must(t, deployments.Delete(ctx, "shop", metav1.DeleteOptions{}))
		_, err = deployments.Get(ctx, "shop", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("after the deletion: %v", err)
		}
	})
}

// A rich template must be returned unchanged in both formats.
func TestPodTemplateSurvivesBothFormats(t *testing.T) {
	protobuf := newClientset(t, configWithType(t, protobufType))
	asJSON := newClientset(t, configWithType(t, jsonType))
	ctx, ns := testContext(t), newNamespace(t, protobuf)

	rich := pod("rich")
	rich.Annotations = map[string]string{"note": "words with ümlaut and \"quotes\""}
	rich.Spec.Volumes = []corev1.Volume{
		{Name: "empty", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			SizeLimit: ptr.To(resource.MustParse("1500Mi"))}}},
		{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}, Items: []corev1.KeyToPath{{Key: "a", Path: "b"}}}}},
	}
	main := &rich.Spec.Containers[0]
	main.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	main.Env = []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}, {Name: "EMPTY"}}
	main.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}
	main.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Path: "/live", Port: intstr.FromString("http")}}, PeriodSeconds: 7}
	main.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{
		Port: intstr.FromInt32(8080)}}}
	main.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](1000), Privileged: ptr.To(false),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	rich.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
		TolerationSeconds: ptr.To[int64](30)}}
	rich.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 10,
			PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone",
				LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}}}}}}
	rich.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone",
		WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}

	_, err := protobuf.CoreV1().Pods(ns).Create(ctx, rich, metav1.CreateOptions{})
	must(t, err)
	second := rich.DeepCopy()
	second.Name = "rich-json"
	_, err = asJSON.CoreV1().Pods(ns).Create(ctx, second, metav1.CreateOptions{})
	must(t, err)

	var read []*corev1.Pod
	for _, name := range []string{"rich", "rich-json"} {
		for _, client := range []*kubernetes.Clientset{protobuf, asJSON} {
			p, err := client.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
			must(t, err)
			read = append(read, p)
		}
	}
	for _, p := range read[1:] {
		if !equality.Semantic.DeepEqual(read[0].Spec, p.Spec) {
			t.Errorf("specs differ by format:\n%+v\n%+v", read[0].Spec, p.Spec)
		}
	}
	got := read[0].Spec
	for what, pair := range map[string][2]any{
		"volumes":     {rich.Spec.Volumes[0], got.Volumes[0]},
		"env":         {main.Env[1], got.Containers[0].Env[1]},
		"resources":   {main.Resources.Limits, got.Containers[0].Resources.Limits},
		"probe port":  {main.LivenessProbe.HTTPGet.Port, got.Containers[0].LivenessProbe.HTTPGet.Port},
		"security":    {main.SecurityContext, got.Containers[0].SecurityContext},
		"affinity":    {rich.Spec.Affinity, got.Affinity},
		"spread":      {rich.Spec.TopologySpreadConstraints, got.TopologySpreadConstraints},
		"annotations": {rich.Annotations, read[0].Annotations},
	} {
		if !equality.Semantic.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: sent %+v, got back %+v", what, pair[0], pair[1])
		}
	}
}

func TestSmallKinds(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, ns := testContext(t), newNamespace(t, client)

		job, err := client.BatchV1().Jobs(ns).Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "once"},
			Spec: batchv1.JobSpec{Completions: ptr.To[int32](2), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: pod("x").Spec.Containers}}}}, metav1.CreateOptions{})
		must(t, err)
		if *job.Spec.BackoffLimit != 6 || job.Spec.Selector.MatchLabels["batch.kubernetes.io/controller-uid"] != string(job.UID) {
			t.Errorf("job defaults: %+v", job.Spec)
		}

		secret, err := client.CoreV1().Secrets(ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"},
			Data: map[string][]byte{"bytes": {0, 255, 1}}, StringData: map[string]string{"text": "swordfish"}}, metav1.CreateOptions{})
		must(t, err)
		if string(secret.Data["text"]) != "swordfish" || len(secret.Data["bytes"]) != 3 || secret.Type != corev1.SecretTypeOpaque {
			t.Errorf("secret: %+v", secret)
		}

		now := metav1.NowMicro()
		lease, err := client.CoordinationV1().Leases(ns).Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me"), RenewTime: &now}}, metav1.CreateOptions{})
		must(t, err)
		if !lease.Spec.RenewTime.Time.Equal(now.Time.Truncate(time.Microsecond)) {
			t.Errorf("a lease keeps microseconds: sent %v, got %v", now, lease.Spec.RenewTime)
		}

		pdb, err := client.PolicyV1().PodDisruptionBudgets(ns).Create(ctx, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: ptr.To(intstr.FromString("20%")), Selector: &metav1.LabelSelector{}}}, metav1.CreateOptions{})
		must(t, err)
		if pdb.Spec.MaxUnavailable.StrVal != "20%" || pdb.Spec.Selector == nil {
			t.Errorf("budget: %+v", pdb.Spec)
		}
	})
}

func TestErrorsAreWhatClientsSwitchOn(t *testing.T) {
	eachContentType(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, ns := testContext(t), newNamespace(t, client)
		maps := client.CoreV1().ConfigMaps(ns)
		first, err := maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
		must(t, err)

		_, err = maps.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			t.Errorf("second create: %v", err)
		}
		_, err = maps.Create(ctx, configMap("Not Valid", nil), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid) {
			t.Errorf("invalid name: %v", err)
		}
		_, err = client.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("one", nil), metav1.CreateOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("missing namespace: %v", err)
		}
		err = maps.Delete(ctx, "one", *metav1.NewPreconditionDeleteOptions("another-uid"))
		if !apierrors.IsConflict(err) {
			t.Errorf("uid precondition: %v", err)
		}
		err = maps.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
			UID: ptr.To(types.UID(first.UID)), ResourceVersion: &first.ResourceVersion}})
		must(t, err)
	})
}

func TestDryRunStoresNothing(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	made, err := client.CoreV1().ConfigMaps(ns).Create(ctx, configMap("one", nil),
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	must(t, err)
	if made.UID == "" {
		t.Errorf("a dry run answers with the object as it would be: %+v", made)
	}
	if _, err = client.CoreV1().ConfigMaps(ns).Get(ctx, "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after a dry run: %v", err)
	}
}

func TestGenerateNameAndGrace(t *testing.T) {
	client := clientset(t)
	ctx, pods := testContext(t), client.CoreV1().Pods(newNamespace(t, client))
	p := podOnNode("", "somewhere")
	p.GenerateName = "made-"
	p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](40)
	made, err := pods.Create(ctx, p, metav1.CreateOptions{})
	must(t, err)
	must(t, pods.Delete(ctx, made.Name, metav1.DeleteOptions{}))
	dying, err := pods.Get(ctx, made.Name, metav1.GetOptions{})
	must(t, err)
	if dying.DeletionTimestamp == nil || *dying.DeletionGracePeriodSeconds != 40 {
		t.Errorf("a scheduled pod is given its grace period: %+v", dying.ObjectMeta)
	}
	must(t, pods.Delete(ctx, made.Name, *metav1.NewDeleteOptions(0)))
	if _, err = pods.Get(ctx, made.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("grace period 0: %v", err)
	}
}

func TestDeleteCollection(t *testing.T) {
	client := clientset(t)
	ctx, ns := testContext(t), newNamespace(t, client)
	createConfigMaps(t, client, ns, 7)
	must(t, client.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{FieldSelector: "metadata.name!=cm-003"}))
	rest, err := client.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{})
	must(t, err)
	if len(rest.Items) != 1 || rest.Items[0].Name != "cm-003" {
		t.Errorf("left over: %+v", rest.Items)
	}
}

func TestDiscovery(t *testing.T) {
	client := clientset(t)
	version, err := client.Discovery().ServerVersion()
	must(t, err)
	if version.Major != "1" || version.Minor != "36" {
		t.Errorf("version %+v", version)
	}
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	must(t, err)
	found := map[string]bool{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[list.GroupVersion+" "+r.Name] = true
		}
	}
	for _, want := range []string{"v1 pods", "v1 pods/status", "v1 pods/eviction", "v1 pods/binding", "v1 pods/log",
		"v1 namespaces/finalize", "apps/v1 deployments", "apps/v1 deployments/scale", "batch/v1 jobs/status",
		"policy/v1 poddisruptionbudgets/status", "coordination.k8s.io/v1 leases", "events.k8s.io/v1 events"} {
		if !found[want] {
			t.Errorf("discovery does not list %s", want)
		}
	}
}
