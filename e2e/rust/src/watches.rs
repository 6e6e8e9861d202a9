//! Watches, watchers, reflectors and conditions that a client waits for.

use std::pin::pin;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::serde_json::json;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, watcher};

use crate::support::{Cluster, applied_map, apply, config_map, deployment, owner_names, strings, within};

fn labelled(name: &str, tier: &str) -> ConfigMap {
    let mut item = config_map(name, &[]);
    item.metadata.labels = Some(strings(&[("tier", tier)]));
    item
}

#[tokio::test]
async fn a_watch_reports_every_write_since_its_version() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let start = maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    maps.create(&PostParams::default(), &labelled("skipped", "db")).await.unwrap();
    maps.create(&PostParams::default(), &labelled("one", "web")).await.unwrap();
    let wish = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "1"}});
    apply(&maps, "team", &wish).await.unwrap();
    apply(&maps, "team", &wish).await.unwrap(); // changes nothing, so there is no event
    maps.delete("one", &DeleteParams::default()).await.unwrap();

    let mut events = pin!(maps.watch(&WatchParams::default().labels("tier=web"), &start).await.unwrap());
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let (what, item) = match within("event", events.try_next()).await.unwrap().expect("the watch goes on") {
            WatchEvent::Added(item) => ("added", item),
            WatchEvent::Modified(item) => ("modified", item),
            WatchEvent::Deleted(item) => ("deleted", item),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => panic!("{status:?}"),
        };
        seen.push((what, item.name_any(), item.data.is_some(), owner_names(&item).len()));
    }
    let expected = [("added", false, 1), ("modified", true, 2), ("deleted", true, 2)];
    assert_eq!(seen, expected.map(|(what, has_data, owners)| (what, "one".to_string(), has_data, owners)));
}

#[tokio::test]
async fn a_watch_from_a_compacted_version_is_expired() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let first = maps.create(&PostParams::default(), &config_map("one", &[])).await.unwrap();
    maps.create(&PostParams::default(), &config_map("two", &[])).await.unwrap();
    cluster.compact().await;
    let mut events = pin!(maps.watch(&WatchParams::default(), &first.resource_version().unwrap()).await.unwrap());
    match within("event", events.try_next()).await.unwrap() {
        Some(WatchEvent::Error(status)) => assert_eq!((status.code, status.reason.as_str()), (410, "Expired")),
        other => panic!("{other:?}"),
    }
}

async fn watcher_lists_and_follows(config: watcher::Config) {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    for name in ["a", "b", "c"] {
        maps.create(&PostParams::default(), &labelled(name, "web")).await.unwrap();
    }
    let mut events = pin!(watcher(maps.clone(), config.labels("tier=web")));
    let mut listed = Vec::new();
    loop {
        match within("event", events.try_next()).await.unwrap().unwrap() {
            watcher::Event::Init => assert!(listed.is_empty()),
            watcher::Event::InitApply(item) => listed.push(item.name_any()),
            watcher::Event::InitDone => break,
            other => panic!("{other:?} in the list"),
        }
    }
    listed.sort();
    assert_eq!(listed, ["a", "b", "c"]);

    maps.create(&PostParams::default(), &labelled("d", "web")).await.unwrap();
    let no_more = Patch::Merge(json!({"metadata": {"labels": {"tier": "db"}}}));
    maps.patch("a", &PatchParams::default(), &no_more).await.unwrap();
    maps.delete("b", &DeleteParams::default()).await.unwrap();
    let mut followed = Vec::new();
    while followed.len() < 3 {
        followed.push(match within("event", events.try_next()).await.unwrap().unwrap() {
            watcher::Event::Apply(item) => format!("apply {}", item.name_any()),
            watcher::Event::Delete(item) => format!("delete {}", item.name_any()),
            other => panic!("{other:?} after the list"),
        });
    }
    assert_eq!(followed, ["apply d", "delete a", "delete b"]);
}

#[tokio::test]
async fn a_watcher_lists_in_pages_and_follows() {
    watcher_lists_and_follows(watcher::Config::default().page_size(2)).await;
}

#[tokio::test]
async fn a_watcher_streams_its_list_and_follows() {
    watcher_lists_and_follows(watcher::Config::default().streaming_lists()).await;
}

#[tokio::test]
async fn a_reflector_keeps_a_store() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    apply(&maps, "team", &applied_map("one", json!({"a": "1"}))).await.unwrap();
    let (reader, writer) = reflector::store::<ConfigMap>();
    let events = watcher(maps.clone(), watcher::Config::default())
        .modify(|item| item.managed_fields_mut().clear())
        .reflect(writer)
        .applied_objects();
    let mut events = pin!(events);
    let first = within("object", events.try_next()).await.unwrap().unwrap();
    assert!(first.managed_fields().is_empty());

    apply(&maps, "team", &applied_map("two", json!({"a": "1"}))).await.unwrap();
    let changed = apply(&maps, "team", &applied_map("one", json!({"a": "2"}))).await.unwrap();
    loop {
        let item = within("object", events.try_next()).await.unwrap().unwrap();
        if item.resource_version() == changed.resource_version() {
            break;
        }
    }
    within("list", reader.wait_until_ready()).await.unwrap();
    assert_eq!(reader.len(), 2);
    let one = reader.get(&ObjectRef::new("one").within(&cluster.namespace)).expect("in the store");
    assert_eq!(one.data, Some(strings(&[("a", "2")])));
}

#[tokio::test]
async fn a_client_waits_for_conditions() {
    let cluster = Cluster::connect().await;
    let deployments = cluster.api::<Deployment>();
    let created = deployments.create(&PostParams::default(), &deployment("web", 2)).await.unwrap();
    let complete = pin!(await_condition(deployments.clone(), "web", conditions::is_deployment_completed()));
    // As a deployment controller reports it.
    let status = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "status": {"conditions": [
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "message": "done"}]}});
    let params = PatchParams::apply("controller");
    let patch = Patch::Apply(&status);
    let report = deployments.patch_status("web", &params, &patch);
    let (complete, reported) = within("rollout", futures::future::join(complete, report)).await;
    let complete = complete.unwrap().expect("the Deployment");
    assert_eq!(complete.resource_version(), reported.unwrap().resource_version());

    let uid = created.uid().unwrap();
    let gone = pin!(await_condition(deployments.clone(), "web", conditions::is_deleted(&uid)));
    deployments.delete("web", &DeleteParams::default()).await.unwrap();
    assert!(within("deletion", gone).await.unwrap().is_none());
}

#[tokio::test]
async fn several_watchers_see_the_same() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let watchers = (0..5).map(|_| {
        let maps = maps.clone();
        async move {
            let objects = watcher(maps, watcher::Config::default()).applied_objects();
            let names = objects.map_ok(|item| item.name_any()).take(10).try_collect::<Vec<_>>();
            within("ten objects", names).await.unwrap()
        }
    });
    let writes = async {
        for i in 0..10 {
            apply(&maps, "team", &applied_map(&format!("m{i}"), json!({"i": i.to_string()}))).await.unwrap();
        }
    };
    let (seen, ()) = futures::future::join(futures::future::join_all(watchers), writes).await;
    let expected: Vec<String> = (0..10).map(|i| format!("m{i}")).collect();
    for mut names in seen {
        names.sort();
        assert_eq!(names, expected);
    }
}
