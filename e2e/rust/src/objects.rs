//! Create, read, list, replace, patch and delete, with the owners that each write leaves.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::serde_json::json;
use kube::ResourceExt;
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams};

use crate::support::{Cluster, config_map, owner_names, owners, pod, refusal, strings};

fn written_by(manager: &str) -> PostParams {
    PostParams { field_manager: Some(manager.into()), ..Default::default() }
}

#[tokio::test]
async fn an_object_is_created_read_and_deleted() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let created = maps.create(&written_by("maker"), &config_map("one", &[("key", "value")])).await.unwrap();
    assert!(created.uid().is_some() && created.creation_timestamp().is_some(), "{created:?}");

    assert_eq!(maps.get("one").await.unwrap(), created);
    let again = maps.create(&PostParams::default(), &config_map("one", &[])).await;
    let status = refusal(again);
    assert!(status.is_already_exists(), "{status:?}");
    assert_eq!(status.code, 409);

    maps.delete("one", &DeleteParams::default()).await.unwrap();
    assert!(maps.get_opt("one").await.unwrap().is_none());
    let status = refusal(maps.get("one").await);
    assert!(status.is_not_found(), "{status:?}");
    assert_eq!(status.message, "configmaps \"one\" not found");
}

#[tokio::test]
async fn a_pod_is_deleted_after_its_grace_period() {
    let cluster = Cluster::connect().await;
    let pods = cluster.api::<Pod>();
    let mut on_a_node = pod("stays");
    on_a_node.spec.as_mut().unwrap().node_name = Some("node".into());
    pods.create(&PostParams::default(), &on_a_node).await.unwrap();

    let marked = pods.delete("stays", &DeleteParams::default().grace_period(7)).await.unwrap().left().unwrap();
    assert_eq!(marked.metadata.deletion_grace_period_seconds, Some(7));
    assert!(pods.get("stays").await.unwrap().metadata.deletion_timestamp.is_some());
    pods.delete("stays", &DeleteParams::default().grace_period(0)).await.unwrap();
    assert!(pods.get_opt("stays").await.unwrap().is_none());
}

#[tokio::test]
async fn lists_come_in_pages_and_by_label() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    for (name, tier) in [("a", "web"), ("b", "db"), ("c", "web"), ("d", "web")] {
        let mut item = config_map(name, &[]);
        item.metadata.labels = Some(strings(&[("tier", tier)]));
        maps.create(&PostParams::default(), &item).await.unwrap();
    }

    let web = ListParams::default().labels("tier=web");
    let page = maps.list(&web.clone().limit(2)).await.unwrap();
    assert_eq!(page.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a", "c"]);
    let next = page.metadata.continue_.expect("a token for the next page");
    let page = maps.list(&web.clone().limit(2).continue_token(&next)).await.unwrap();
    assert_eq!(page.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["d"]);
    assert_eq!(page.metadata.continue_.unwrap_or_default(), "");

    // Of one object that matches the list only metadata is read.
    let only = maps.list_metadata(&ListParams::default().labels("tier notin (web)")).await.unwrap();
    assert_eq!(only.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["b"]);
    assert_eq!(only.items[0].types.as_ref().unwrap().kind, "PartialObjectMetadata");

    maps.delete_collection(&DeleteParams::default(), &web).await.unwrap();
    let left = maps.list(&ListParams::default()).await.unwrap();
    assert_eq!(left.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["b"]);
}

#[tokio::test]
async fn a_stale_replacement_is_a_conflict() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let mut stale = maps.create(&PostParams::default(), &config_map("one", &[("n", "1")])).await.unwrap();
    let mut fresh = stale.clone();
    fresh.data = Some(strings(&[("n", "2")]));
    let replaced = maps.replace("one", &PostParams::default(), &fresh).await.unwrap();
    assert_ne!(replaced.resource_version(), stale.resource_version());

    stale.data = Some(strings(&[("n", "3")]));
    let status = refusal(maps.replace("one", &PostParams::default(), &stale).await);
    assert!(status.is_conflict(), "{status:?}");
    assert!(status.message.contains("the object has been modified"), "{}", status.message);
    assert_eq!(maps.get("one").await.unwrap().data, replaced.data);
}

/// kube-rs sends no User-Agent: a write without a field manager is owned by "unknown".
#[tokio::test]
async fn every_write_has_an_owner() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let created = maps.create(&PostParams::default(), &config_map("one", &[("a", "1"), ("b", "1")])).await.unwrap();
    assert_eq!(
        owners(&created).into_iter().collect::<Vec<_>>(),
        [("unknown Update".into(), json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}}))]
    );

    let by_patch = PatchParams { field_manager: Some("patcher".into()), ..Default::default() };
    let patched = maps.patch("one", &by_patch, &Patch::Merge(json!({"data": {"a": "2"}}))).await.unwrap();
    assert_eq!(owner_names(&patched), ["patcher Update", "unknown Update"]);
    assert_eq!(owners(&patched)["patcher Update"], json!({"f:data": {"f:a": {}}}));
    assert_eq!(owners(&patched)["unknown Update"], json!({"f:data": {".": {}, "f:b": {}}}));

    let mut edited = patched.clone();
    edited.data = Some(strings(&[("b", "3")]));
    let replaced = maps.replace("one", &written_by("editor"), &edited).await.unwrap();
    assert_eq!(owner_names(&replaced), ["editor Update", "unknown Update"]);
    assert_eq!(owners(&replaced)["editor Update"], json!({"f:data": {"f:b": {}}}));

    // Strategic and JSON patches own fields too.
    let patched = maps.patch("one", &by_patch, &Patch::Strategic(json!({"metadata": {"labels": {"x": "y"}}}))).await;
    assert_eq!(owners(&patched.unwrap())["patcher Update"], json!({"f:metadata": {"f:labels": {".": {}, "f:x": {}}}}));
    let read = maps.get_with("one", &GetParams::default()).await.unwrap();
    assert_eq!(owner_names(&read), ["editor Update", "patcher Update", "unknown Update"]);
}

#[tokio::test]
async fn owners_are_reset_by_an_empty_entry() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let created = maps.create(&written_by("maker"), &config_map("one", &[("a", "1")])).await.unwrap();
    assert_eq!(owner_names(&created), ["maker Update"]);
    let reset = Patch::Merge(json!({"metadata": {"managedFields": [{}]}}));
    let without = maps.patch("one", &PatchParams::default(), &reset).await.unwrap();
    assert!(without.managed_fields().is_empty(), "{:?}", without.managed_fields());
}
