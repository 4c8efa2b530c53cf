//! The files of the starter folders.

use crate::cli::Template;

/// A file: its path in the folder, and its text.
type File = (&'static str, &'static str);

macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../templates/", $folder, "/", $name)))),+]
    };
}

const COMMON: &[File] = &[
    (
        "tsconfig.json",
        include_str!("../../../templates/common/tsconfig.json"),
    ),
    (
        "policies/portcullis.d.ts",
        include_str!("../../../templates/common/portcullis.d.ts"),
    ),
];

const KUBERNETES: &[File] = files!("kubernetes":
    "portcullis.yaml",
    "README.md",
    "policies/image-tags.ts",
    "policies/owner-label.ts",
    "policies/resource-limits.js",
    "policies/lib/pods.ts",
    "tests/pods/web.yaml",
    "tests/pods.test.yaml",
    "tests/images.test.ts",
);

const CI: &[File] = files!("ci":
    "portcullis.yaml",
    "README.md",
    "policies/protected-production.ts",
    "policies/route-builds.ts",
    "policies/lib/jobs.ts",
    "tests/jobs/build.yaml",
    "tests/jobs.test.yaml",
    "tests/jobs.test.ts",
);

/// All files of a starter folder.
pub(super) fn of(template: Template) -> impl Iterator<Item = File> + Clone {
    let own = match template {
        Template::Kubernetes => KUBERNETES,
        Template::Ci => CI,
    };
    own.iter().chain(COMMON).copied()
}
