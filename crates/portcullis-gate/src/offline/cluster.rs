//! The objects of a cluster, as manifests in files.

use std::path::Path;

use portcullis_document::{Fault, Faults, Position, Source};
use portcullis_kube::cluster_objects::StaticObjects;

use super::{find, read_documents, read_file};

/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// Reads the objects of a cluster: the manifests of a file, or of a folder and its subfolders.
///
/// # Errors
///
/// Everything that can't be read or is not an object.
pub fn read_cluster(path: &Path) -> Result<StaticObjects, Faults> {
    let mut objects = StaticObjects::default();
    let mut faults: Vec<Fault> = Vec::new();
    let label = path.display().to_string();
    if !path.exists() {
        let message = "no such file or folder of objects";
        return Err(Source::named(&label).fault(None, "", message).into());
    }
    let is_folder = path.is_dir();
    for file in find(path).map_err(|fault| Faults::from(*fault))?.files {
        let source = match read_file(&file) {
            Ok(source) => source,
            Err(fault) => {
                faults.push(*fault);
                continue;
            }
        };
        for item in read_documents(&source, NAMESPACE) {
            if item.is_other && is_folder {
                continue;
            }
            let line = item.line;
            match item.into_manifest() {
                Ok(manifest) => {
                    if let Err(why) = objects.add(manifest.object) {
                        let at = Position { line, column: 1 };
                        faults.push(source.fault(Some(at), "", why.to_string()));
                    }
                }
                Err(fault) => faults.push(*fault),
            }
        }
    }
    match Faults::from_list(faults) {
        Some(faults) => Err(faults),
        None => Ok(objects),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use portcullis_kube::cluster_objects::{ClusterObjects, ObjectKind};

    use super::*;

    #[test]
    fn manifests_of_a_folder_become_objects() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\n",
        );
        let known = read_cluster(folder.path()).unwrap();
        let namespace = known.get(&ObjectKind::NAMESPACE, "", "shop");
        assert!(namespace.unwrap().is_some());
        let pod = known.get(&ObjectKind::POD, "default", "web");
        assert!(pod.unwrap().is_some());
        write("b.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {}\n");
        let faults = read_cluster(folder.path()).unwrap_err().to_string();
        assert!(faults.contains("b.yaml:1:1"), "{faults}");
        assert!(faults.contains("metadata.name"), "{faults}");
        let missing = read_cluster(&folder.path().join("c")).unwrap_err();
        assert!(missing.to_string().contains("no such file or folder"));
    }
}
