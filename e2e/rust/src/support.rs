//! A client and a namespace for every test, samples of objects, and what is expected of field owners and errors.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams, PostParams, Request};
use kube::core::Status;
use kube::{Client, Resource, ResourceExt};
use k8s_openapi::serde::de::DeserializeOwned;
use k8s_openapi::serde_json::{self, Value, json};

pub const WAIT_MAX: Duration = Duration::from_secs(20);

/// A client of the server and the namespace of one test.
pub struct Cluster {
    pub client: Client,
    pub namespace: String,
}

impl Cluster {
    /// Reads the kubeconfig that the server wrote, so that this file is tested as well.
    pub async fn connect() -> Self {
        let client = Client::try_default().await.expect("the server's kubeconfig");
        let made = Api::<Namespace>::all(client.clone())
            .create(
                &PostParams::default(),
                &Namespace {
                    metadata: ObjectMeta { generate_name: Some("rust-".into()), ..Default::default() },
                    ..Default::default()
                },
            )
            .await
            .expect("a namespace");
        Cluster { client, namespace: made.name_any() }
    }

    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Drops the server's history before the current revision, so that older reads are 410.
    pub async fn compact(&self) {
        let request = Request::new("/terrarium/v1/store/compact").create(&PostParams::default(), vec![]).unwrap();
        let answer = self.client.request_text(request).await.expect("a compaction");
        assert!(answer.contains("compactedRevision"), "{answer}");
    }
}

/// Waits for a future, but not forever.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_MAX, future).await.unwrap_or_else(|_| panic!("no {what} within {WAIT_MAX:?}"))
}

/// Applies a document as a manager, without force.
pub async fn apply<K>(api: &Api<K>, manager: &str, document: &Value) -> kube::Result<K>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let name = document["metadata"]["name"].as_str().expect("a name");
    api.patch(name, &PatchParams::apply(manager), &Patch::Apply(document)).await
}

/// The Status of a refused request.
pub fn refusal<T: Debug>(result: kube::Result<T>) -> Box<Status> {
    match result {
        Err(kube::Error::Api(status)) => status,
        other => panic!("not refused with a Status: {other:?}"),
    }
}

/// (field, message) of each cause.
pub fn causes(status: &Status) -> Vec<(&str, &str)> {
    let details = status.details.as_ref().expect("details");
    details.causes.iter().map(|cause| (cause.field.as_str(), cause.message.as_str())).collect()
}

/// Every entry of managedFields: "manager operation" with "/subresource" behind it, and its fields. Not the time: an
/// entry that came to be without a change of the object has none.
pub fn owners(object: &impl ResourceExt) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for entry in object.managed_fields() {
        assert_eq!(entry.fields_type.as_deref(), Some("FieldsV1"), "{entry:?}");
        let subresource = entry.subresource.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
        let [manager, operation] = [&entry.manager, &entry.operation].map(|part| part.as_deref().unwrap_or("(none)"));
        let fields = entry.fields_v1.as_ref().expect("fieldsV1").0.clone();
        let earlier = found.insert(format!("{manager} {operation}{subresource}"), fields);
        assert_eq!(earlier, None, "two entries of {manager} {operation}{subresource}");
    }
    found
}

/// The keys of `owners`.
pub fn owner_names(object: &impl ResourceExt) -> Vec<String> {
    owners(object).into_keys().collect()
}

pub fn config_map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..Default::default() },
        data: Some(strings(data)),
        ..Default::default()
    }
}

pub fn strings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// A ConfigMap as its manager applies it.
pub fn applied_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

pub fn pod(name: &str) -> Pod {
    parse(json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]}}))
}

/// A Deployment as its manager applies it; `containers` are those of its template.
pub fn applied_deployment(name: &str, spec: Value, containers: Value) -> Value {
    let labels = json!({"app": name});
    let mut document = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}}});
    for (key, value) in spec.as_object().expect("an object") {
        document["spec"][key] = value.clone();
    }
    document
}

pub fn deployment(name: &str, replicas: i32) -> Deployment {
    parse(applied_deployment(name, json!({"replicas": replicas}), json!([{"name": "main", "image": "example.test/app:1"}])))
}

/// A typed object from its document.
fn parse<K: DeserializeOwned>(document: Value) -> K {
    serde_json::from_value(document).expect("a document of this kind")
}
