// Command schemagen reads the Go sources of the Kubernetes API and writes the facts that Terrarium needs (field names,
// types, protobuf numbers, presence, list and patch markers, enum values) as C++ tables. It copies no documentation.
//
// Usage: go run . -out ../../api/schema/generated
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os/exec"
)

// root is a Go package and the structs we start from; everything they mention is followed.
type root struct {
	module string // Go module that holds the package
	pkg    string // path inside the module
	kinds  []string
}

var roots = []root{
	{"k8s.io/api", "core/v1", []string{
		"Namespace", "NamespaceList", "Pod", "PodList", "PodTemplate", "PodTemplateList", "Node", "NodeList",
		"Event", "EventList", "Secret", "SecretList", "ConfigMap", "ConfigMapList", "Service", "ServiceList",
		"ServiceAccount", "ServiceAccountList", "ReplicationController", "ReplicationControllerList", "Binding",
		"ResourceQuota", "ResourceQuotaList", "LimitRange", "LimitRangeList", "Endpoints", "EndpointsList",
		"PersistentVolume", "PersistentVolumeList", "PersistentVolumeClaim", "PersistentVolumeClaimList",
		"PodStatusResult", "PodLogOptions",
	}},
	{"k8s.io/api", "apps/v1", []string{
		"Deployment", "DeploymentList", "ReplicaSet", "ReplicaSetList", "StatefulSet", "StatefulSetList",
		"DaemonSet", "DaemonSetList", "ControllerRevision", "ControllerRevisionList",
	}},
	{"k8s.io/api", "batch/v1", []string{"Job", "JobList", "CronJob", "CronJobList"}},
	{"k8s.io/api", "policy/v1", []string{"PodDisruptionBudget", "PodDisruptionBudgetList", "Eviction"}},
	{"k8s.io/api", "coordination/v1", []string{"Lease", "LeaseList"}},
	{"k8s.io/api", "events/v1", []string{"Event", "EventList"}},
	{"k8s.io/api", "autoscaling/v1", []string{
		"Scale", "HorizontalPodAutoscaler", "HorizontalPodAutoscalerList",
	}},
	{"k8s.io/api", "autoscaling/v2", []string{"HorizontalPodAutoscaler", "HorizontalPodAutoscalerList"}},
	{"k8s.io/api", "certificates/v1", []string{"CertificateSigningRequest", "CertificateSigningRequestList"}},
	{"k8s.io/api", "networking/v1", []string{
		"Ingress", "IngressList", "IngressClass", "IngressClassList", "IPAddress", "IPAddressList",
		"NetworkPolicy", "NetworkPolicyList", "ServiceCIDR", "ServiceCIDRList",
	}},
	{"k8s.io/api", "rbac/v1", []string{
		"ClusterRole", "ClusterRoleList", "ClusterRoleBinding", "ClusterRoleBindingList", "Role", "RoleList",
		"RoleBinding", "RoleBindingList",
	}},
	{"k8s.io/api", "storage/v1", []string{
		"CSIDriver", "CSIDriverList", "CSINode", "CSINodeList", "CSIStorageCapacity", "CSIStorageCapacityList",
		"StorageClass", "StorageClassList", "VolumeAttachment", "VolumeAttachmentList", "VolumeAttributesClass",
		"VolumeAttributesClassList",
	}},
	{"k8s.io/api", "admissionregistration/v1", []string{
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyList", "MutatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicyBindingList", "MutatingWebhookConfiguration", "MutatingWebhookConfigurationList",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyList", "ValidatingAdmissionPolicyBinding",
		"ValidatingAdmissionPolicyBindingList", "ValidatingWebhookConfiguration",
		"ValidatingWebhookConfigurationList",
	}},
	{"k8s.io/api", "scheduling/v1", []string{"PriorityClass", "PriorityClassList"}},
	{"k8s.io/api", "node/v1", []string{"RuntimeClass", "RuntimeClassList"}},
	{"k8s.io/api", "discovery/v1", []string{"EndpointSlice", "EndpointSliceList"}},
	{"k8s.io/api", "flowcontrol/v1", []string{
		"FlowSchema", "FlowSchemaList", "PriorityLevelConfiguration", "PriorityLevelConfigurationList",
	}},
	{"k8s.io/api", "resource/v1", []string{
		"DeviceClass", "DeviceClassList", "ResourceClaim", "ResourceClaimList", "ResourceClaimTemplate",
		"ResourceClaimTemplateList", "ResourceSlice", "ResourceSliceList",
	}},
	{"k8s.io/api", "authorization/v1", []string{
		"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview", "LocalSubjectAccessReview",
	}},
	{"k8s.io/api", "authentication/v1", []string{"SelfSubjectReview", "TokenReview", "TokenRequest"}},
	{"k8s.io/api", "apidiscovery/v2", []string{"APIGroupDiscovery", "APIGroupDiscoveryList"}},
	{"k8s.io/metrics", "pkg/apis/metrics/v1beta1", []string{
		"NodeMetrics", "NodeMetricsList", "PodMetrics", "PodMetricsList",
	}},
	{"k8s.io/apimachinery", "pkg/apis/meta/v1", []string{
		"ObjectMeta", "ListMeta", "Status", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions",
		"ListOptions", "GetOptions", "LabelSelector", "WatchEvent", "Table", "PartialObjectMetadata",
		"PartialObjectMetadataList", "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Condition",
	}},
}

type module struct {
	Path    string
	Version string
	Dir     string
}

func findModule(path string) (module, error) {
	var m module
	out, err := exec.Command("go", "list", "-m", "-json", path).Output()
	if err != nil {
		return m, fmt.Errorf("go list -m %s: %w", path, err)
	}
	return m, json.Unmarshal(out, &m)
}

func main() {
	out := flag.String("out", "../../api/schema/generated", "folder that receives the tables")
	flag.Parse()
	log.SetFlags(0)

	loader := newLoader()
	for _, r := range roots {
		if err := loader.addModule(r.module); err != nil {
			log.Fatal(err)
		}
	}
	model := newModel(loader)
	for _, r := range roots {
		for _, kind := range r.kinds {
			if err := model.addStruct(r.module+"/"+r.pkg, kind); err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := emit(model, *out); err != nil {
		log.Fatal(err)
	}
}
