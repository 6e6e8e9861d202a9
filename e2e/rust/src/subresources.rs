//! Status and scale, applied and owned apart from the rest of an object.

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::autoscaling::v1::{Scale, ScaleSpec};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::serde_json::{Value, json};
use kube::api::{Patch, PatchParams, PostParams};

use crate::support::{Cluster, applied_deployment, apply, causes, deployment, owner_names, owners, pod, refusal};

fn status_of(name: &str, conditions: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "status": {"conditions": conditions}})
}

#[tokio::test]
async fn a_status_is_applied_by_several_managers() {
    let cluster = Cluster::connect().await;
    let pods = cluster.api::<Pod>();
    pods.create(&PostParams::default(), &pod("one")).await.unwrap();

    let ready = status_of("one", json!([{"type": "example.test/Warm", "status": "True"}]));
    pods.patch_status("one", &PatchParams::apply("warmer"), &Patch::Apply(&ready)).await.unwrap();
    let checked = status_of("one", json!([{"type": "example.test/Checked", "status": "False"}]));
    let both = pods.patch_status("one", &PatchParams::apply("checker"), &Patch::Apply(&checked)).await.unwrap();

    let types = |pod: &Pod| -> Vec<String> {
        let conditions = pod.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
        conditions.into_iter().map(|condition| condition.type_).filter(|name| name.contains('/')).collect()
    };
    assert_eq!(types(&both), ["example.test/Warm", "example.test/Checked"]);
    assert_eq!(owner_names(&both), ["checker Apply/status", "unknown Update", "warmer Apply/status"]);
    assert_eq!(
        owners(&both)["checker Apply/status"],
        json!({"f:status": {"f:conditions": {
            "k:{\"type\":\"example.test/Checked\"}": {".": {}, "f:status": {}, "f:type": {}}}}})
    );

    let conflict = status_of("one", json!([{"type": "example.test/Warm", "status": "False"}]));
    let status = refusal(pods.patch_status("one", &PatchParams::apply("checker"), &Patch::Apply(&conflict)).await);
    assert_eq!(
        causes(&status),
        [(
            ".status.conditions[type=\"example.test/Warm\"].status",
            "conflict with \"warmer\" with subresource \"status\""
        )]
    );
    let gone = status_of("one", json!([]));
    let left = pods.patch_status("one", &PatchParams::apply("warmer"), &Patch::Apply(&gone)).await.unwrap();
    assert_eq!(types(&left), ["example.test/Checked"]);
}

#[tokio::test]
async fn a_status_apply_owns_no_spec() {
    let cluster = Cluster::connect().await;
    let deployments = cluster.api::<Deployment>();
    let created = deployments.create(&PostParams::default(), &deployment("web", 2)).await.unwrap();
    let wish = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 9}, "status": {"replicas": 2, "observedGeneration": 1}});
    let made = deployments.patch_status("web", &PatchParams::apply("watcher"), &Patch::Apply(&wish)).await.unwrap();
    assert_eq!(made.spec, created.spec);
    assert_eq!(made.status.as_ref().unwrap().replicas, Some(2));
    assert_eq!(
        owners(&made)["watcher Apply/status"],
        json!({"f:status": {"f:observedGeneration": {}, "f:replicas": {}}})
    );

    // Nor does an apply of the object own its status.
    let wish = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"paused": true}, "status": {"replicas": 7}});
    let made = apply(&deployments, "watcher", &wish).await.unwrap();
    assert_eq!(made.status.as_ref().unwrap().replicas, Some(2));
    assert_eq!(owners(&made)["watcher Apply"], json!({"f:spec": {"f:paused": {}}}));
}

fn scale(name: &str, replicas: i32) -> Scale {
    Scale {
        metadata: ObjectMeta { name: Some(name.into()), ..Default::default() },
        spec: Some(ScaleSpec { replicas: Some(replicas) }),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_scale_is_read_replaced_and_patched() {
    let cluster = Cluster::connect().await;
    let deployments = cluster.api::<Deployment>();
    deployments.create(&PostParams::default(), &deployment("web", 3)).await.unwrap();
    let read = deployments.get_scale("web").await.unwrap();
    assert_eq!(read.spec.as_ref().unwrap().replicas, Some(3));
    assert_eq!(read.status.unwrap().selector.as_deref(), Some("app=web"));

    let mut wish = scale("web", 5);
    wish.metadata.resource_version = read.metadata.resource_version;
    let params = PostParams { field_manager: Some("scaler".into()), ..Default::default() };
    let replaced = deployments.replace_scale("web", &params, &wish).await.unwrap();
    assert_eq!(replaced.spec.unwrap().replicas, Some(5));
    let status = refusal(deployments.replace_scale("web", &params, &wish).await);
    assert!(status.is_conflict(), "{status:?}");

    let read = deployments.get("web").await.unwrap();
    assert_eq!(read.spec.as_ref().unwrap().replicas, Some(5));
    assert_eq!(owners(&read)["scaler Update/scale"], json!({"f:spec": {"f:replicas": {}}}));
    assert!(owners(&read)["unknown Update"]["f:spec"].get("f:replicas").is_none());

    let patch = Patch::Merge(json!({"spec": {"replicas": 6}}));
    let merged = deployments.patch_scale("web", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(merged.spec.unwrap().replicas, Some(6));
}

#[tokio::test]
async fn an_applied_scale_owns_the_replicas() {
    let cluster = Cluster::connect().await;
    let sets = cluster.api::<ReplicaSet>();
    let container = json!([{"name": "main", "image": "example.test/app:1"}]);
    let mut set = applied_deployment("web", json!({"replicas": 1}), container);
    set["kind"] = json!("ReplicaSet");
    apply(&sets, "team", &set).await.unwrap();

    let wish = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 4}});
    let status = refusal(sets.patch_scale("web", &PatchParams::apply("scaler"), &Patch::Apply(&wish)).await);
    assert_eq!(causes(&status), [(".spec.replicas", "conflict with \"team\"")]);
    let forced = sets.patch_scale("web", &PatchParams::apply("scaler").force(), &Patch::Apply(&wish)).await.unwrap();
    assert_eq!(forced.spec.unwrap().replicas, Some(4));

    let read = sets.get("web").await.unwrap();
    assert_eq!(owners(&read)["scaler Apply/scale"], json!({"f:spec": {"f:replicas": {}}}));
    assert!(owners(&read)["team Apply"]["f:spec"].get("f:replicas").is_none());

    // The team that no longer applies replicas leaves them to the scaler.
    set["spec"].as_object_mut().unwrap().remove("replicas");
    let left = apply(&sets, "team", &set).await.unwrap();
    assert_eq!(left.spec.unwrap().replicas, Some(4));
}
