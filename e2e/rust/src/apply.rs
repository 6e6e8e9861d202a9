//! Server-side apply: Patch::Apply by several managers, conflicts, force.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::serde_json::{self, json};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams, PostParams};

use crate::support::{
    Cluster, applied_deployment, applied_map, apply, causes, config_map, deployment, owner_names, owners, refusal, strings,
};

#[tokio::test]
async fn apply_creates_changes_and_removes() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let created = apply(&maps, "team", &applied_map("one", json!({"a": "1", "b": "1"}))).await.unwrap();
    assert!(created.uid().is_some());
    assert_eq!(
        owners(&created).into_iter().collect::<Vec<_>>(),
        [("team Apply".into(), json!({"f:data": {"f:a": {}, "f:b": {}}}))]
    );

    assert_eq!(created.managed_fields()[0].time, created.creation_timestamp());

    // The same again changes nothing.
    let same = apply(&maps, "team", &applied_map("one", json!({"a": "1", "b": "1"}))).await.unwrap();
    assert_eq!(same, created);

    // A field that its only manager lists no more goes, and what other managers wrote stays.
    let other = PatchParams { field_manager: Some("other".into()), ..Default::default() };
    maps.patch("one", &other, &Patch::Merge(json!({"data": {"c": "3"}}))).await.unwrap();
    let changed = apply(&maps, "team", &applied_map("one", json!({"a": "2"}))).await.unwrap();
    assert_eq!(changed.uid(), created.uid());
    assert_eq!(changed.data, Some(strings(&[("a", "2"), ("c", "3")])));
    assert_eq!(owners(&changed)["team Apply"], json!({"f:data": {"f:a": {}}}));
    assert_eq!(owners(&changed)["other Update"], json!({"f:data": {"f:c": {}}}));
}

#[tokio::test]
async fn a_typed_object_is_applied() {
    let cluster = Cluster::connect().await;
    let deployments = cluster.api::<Deployment>();
    let params = PatchParams::apply("team");
    let made = deployments.patch("web", &params, &Patch::Apply(deployment("web", 3))).await.unwrap();
    assert_eq!(made.spec.as_ref().unwrap().replicas, Some(3));
    assert_eq!(made.metadata.generation, Some(1));
    let scaled = deployments.patch("web", &params, &Patch::Apply(deployment("web", 4))).await.unwrap();
    assert_eq!(scaled.spec.unwrap().replicas, Some(4));
    assert_eq!(scaled.metadata.generation, Some(2));
}

#[tokio::test]
async fn a_conflict_names_each_field_and_its_manager() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let before = apply(&maps, "team", &applied_map("one", json!({"a": "1", "b": "1"}))).await.unwrap();

    let status = refusal(apply(&maps, "rival", &applied_map("one", json!({"a": "2", "b": "2", "c": "2"}))).await);
    assert!(status.is_conflict(), "{status:?}");
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert_eq!(
        status.message,
        "Apply failed with 2 conflicts: conflicts with \"team\":\n- .data.a\n- .data.b"
    );
    assert_eq!(causes(&status), [(".data.a", "conflict with \"team\""), (".data.b", "conflict with \"team\"")]);
    assert!(status.details.unwrap().causes.iter().all(|cause| cause.reason == "FieldManagerConflict"));
    assert_eq!(maps.get("one").await.unwrap(), before, "a refused apply writes nothing");
}

#[tokio::test]
async fn a_conflict_with_an_update_names_its_version() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let maker = PostParams { field_manager: Some("maker".into()), ..Default::default() };
    maps.create(&maker, &config_map("one", &[("a", "1")])).await.unwrap();
    let status = refusal(apply(&maps, "team", &applied_map("one", json!({"a": "2"}))).await);
    assert_eq!(causes(&status), [(".data.a", "conflict with \"maker\" using v1")]);
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"maker\" using v1: .data.a");
}

#[tokio::test]
async fn force_takes_a_field_over() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    apply(&maps, "team", &applied_map("one", json!({"a": "1", "b": "1"}))).await.unwrap();
    let wish = applied_map("one", json!({"a": "2"}));
    let forced = maps.patch("one", &PatchParams::apply("rival").force(), &Patch::Apply(&wish)).await.unwrap();
    assert_eq!(forced.data, Some(strings(&[("a", "2"), ("b", "1")])));
    assert_eq!(owners(&forced)["rival Apply"], json!({"f:data": {"f:a": {}}}));
    assert_eq!(owners(&forced)["team Apply"], json!({"f:data": {"f:b": {}}}));

    // The former manager is now the one that conflicts.
    let status = refusal(apply(&maps, "team", &applied_map("one", json!({"a": "1", "b": "1"}))).await);
    assert_eq!(causes(&status), [(".data.a", "conflict with \"rival\"")]);
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"rival\": .data.a");
}

#[tokio::test]
async fn a_shared_field_stays_until_its_last_manager_leaves() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    apply(&maps, "one", &applied_map("shared", json!({"a": "1"}))).await.unwrap();
    let both = apply(&maps, "two", &applied_map("shared", json!({"a": "1"}))).await.unwrap();
    assert_eq!(owner_names(&both), ["one Apply", "two Apply"]);

    let left = apply(&maps, "one", &applied_map("shared", json!({}))).await.unwrap();
    assert_eq!(left.data, Some(strings(&[("a", "1")])));
    assert_eq!(owners(&left)["two Apply"], json!({"f:data": {"f:a": {}}}));
    // Alone, a manager changes its field without a conflict.
    let changed = apply(&maps, "two", &applied_map("shared", json!({"a": "2"}))).await.unwrap();
    assert_eq!(changed.data, Some(strings(&[("a", "2")])));
    let gone = apply(&maps, "two", &applied_map("shared", json!({}))).await.unwrap();
    assert_eq!(gone.data.unwrap_or_default(), strings(&[]));
}

#[tokio::test]
async fn lists_merge_by_their_keys() {
    let cluster = Cluster::connect().await;
    let deployments = cluster.api::<Deployment>();
    let main = json!([{"name": "main", "image": "example.test/app:1", "ports": [{"containerPort": 80}]}]);
    apply(&deployments, "team", &applied_deployment("web", json!({"replicas": 2}), main)).await.unwrap();
    let sidecar = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template":
        {"spec": {"containers": [
            {"name": "proxy", "image": "example.test/proxy:1"},
            {"name": "main", "ports": [{"containerPort": 80, "protocol": "UDP"}]}]}}}});
    let merged = apply(&deployments, "mesh", &sidecar).await.unwrap();
    let containers = &merged.spec.as_ref().unwrap().template.spec.as_ref().unwrap().containers;
    // New items come where the configuration has them.
    assert_eq!(containers.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["proxy", "main"]);
    assert_eq!(containers[1].image.as_deref(), Some("example.test/app:1"));
    let ports = containers[1].ports.as_ref().unwrap();
    assert_eq!(ports.iter().map(|p| p.protocol.as_deref().unwrap()).collect::<Vec<_>>(), ["TCP", "UDP"]);
    assert_eq!(
        owners(&merged)["mesh Apply"],
        json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
            "k:{\"name\":\"main\"}": {".": {}, "f:name": {}, "f:ports": {
                "k:{\"containerPort\":80,\"protocol\":\"UDP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}}}},
            "k:{\"name\":\"proxy\"}": {".": {}, "f:image": {}, "f:name": {}}}}}}})
    );

    // Without its sidecar in the list, the mesh's container and port go, and the shared container stays.
    let nothing = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
    let left = apply(&deployments, "mesh", &nothing).await.unwrap();
    let containers = &left.spec.as_ref().unwrap().template.spec.as_ref().unwrap().containers;
    assert_eq!(containers.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["main"]);
    assert_eq!(containers[0].ports.as_ref().unwrap().len(), 1);
    assert_eq!(owner_names(&left), ["team Apply"]);
}

#[tokio::test]
async fn an_applied_list_of_another_manager_is_left_alone() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let with = |finalizers: serde_json::Value| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "finalizers": finalizers}})
    };
    apply(&maps, "one", &with(json!(["example.test/a"]))).await.unwrap();
    let both = apply(&maps, "two", &with(json!(["example.test/b"]))).await.unwrap();
    assert_eq!(both.finalizers(), ["example.test/a", "example.test/b"]);
    assert_eq!(owners(&both)["two Apply"], json!({"f:metadata": {"f:finalizers": {"v:\"example.test/b\"": {}}}}));
    let one = apply(&maps, "two", &with(json!([]))).await.unwrap();
    assert_eq!(one.finalizers(), ["example.test/a"]);
    apply(&maps, "one", &with(json!([]))).await.unwrap();
}

#[tokio::test]
async fn a_dry_run_answers_without_writing() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let before = apply(&maps, "team", &applied_map("one", json!({"a": "1"}))).await.unwrap();
    let dry = PatchParams::apply("team").dry_run();
    let wish = applied_map("one", json!({"b": "2"}));
    let answer = maps.patch("one", &dry, &Patch::Apply(&wish)).await.unwrap();
    assert_eq!(answer.data, Some(strings(&[("b", "2")])));
    assert_eq!(owners(&answer)["team Apply"], json!({"f:data": {"f:b": {}}}));
    assert_eq!(maps.get("one").await.unwrap(), before);
    maps.patch("two", &dry, &Patch::Apply(&applied_map("two", json!({"a": "1"})))).await.unwrap();
    assert!(maps.get_opt("two").await.unwrap().is_none());
}

#[tokio::test]
async fn apply_needs_a_manager() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let answer = maps.patch("one", &PatchParams::default(), &Patch::Apply(&applied_map("one", json!({})))).await;
    let status = refusal(answer);
    assert!(status.is_invalid(), "{status:?}");
    assert_eq!(causes(&status), [("fieldManager", "Required value: is required for apply patch")]);
}

#[tokio::test]
async fn an_apply_with_a_stale_version_is_a_conflict() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let first = apply(&maps, "team", &applied_map("one", json!({"a": "1"}))).await.unwrap();
    let second = apply(&maps, "team", &applied_map("one", json!({"a": "2"}))).await.unwrap();
    let mut wish = applied_map("one", json!({"a": "3"}));
    wish["metadata"]["resourceVersion"] = json!(first.resource_version());
    // Force is about fields only.
    let answer = maps.patch("one", &PatchParams::apply("team").force(), &Patch::Apply(&wish)).await;
    let status = refusal(answer);
    assert!(status.is_conflict(), "{status:?}");
    assert!(status.message.contains("the object has been modified"), "{}", status.message);
    wish["metadata"]["resourceVersion"] = json!(second.resource_version());
    assert_eq!(apply(&maps, "team", &wish).await.unwrap().data, Some(strings(&[("a", "3")])));
}
