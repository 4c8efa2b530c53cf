//! The tenants file.

use portcullis_roles::{Load, Roles};

use super::LeftOut;
use portcullis_config::AccessSettings;
use portcullis_document::{Document, Fault, Faults, Value, Warning, yaml};

/// What the tenants file became.
pub(super) struct Tenants {
    /// The text of the file.
    pub(super) text: String,
    pub(super) roles: Roles,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) warnings: Vec<Warning>,
}

/// Reads the tenants file, if there is one.
pub(super) fn read(
    settings: &AccessSettings,
    previous: Option<&Roles>,
) -> Result<Tenants, Vec<Fault>> {
    let Some((file, origin)) = &settings.tenants else {
        return Ok(Tenants {
            text: String::new(),
            roles: Roles::without_document(),
            left_out: Vec::new(),
            warnings: Vec::new(),
        });
    };
    let source = portcullis_config::read_source(file).map_err(|reason| {
        let message = format!("cannot read `{}`: {reason}", file.display());
        vec![origin.fault("", message)]
    })?;
    if source.is_blank() {
        return Err(vec![source.fault(None, "", "the file is empty")]);
    }
    let document = yaml::parse(&source).map_err(|faults| faults.0)?;
    let Load {
        roles,
        left_out,
        warnings,
    } = Roles::load(&document.root.to_json(), previous)
        .map_err(|faults| located(&document, faults))?;
    let left_out = left_out.into_iter().map(|one| LeftOut {
        tenant: one.tenant,
        keeps_previous: one.keeps_previous,
        faults: Faults(located(&document, one.faults)),
    });
    let warnings = warnings.into_iter();
    Ok(Tenants {
        text: source.text().to_owned(),
        roles,
        left_out: left_out.collect(),
        warnings: warnings
            .map(|one| document.fault(&one.path, one.message).into())
            .collect(),
    })
}

fn located(document: &Document, faults: Vec<portcullis_roles::Fault>) -> Vec<Fault> {
    let place = |fault: portcullis_roles::Fault| {
        let message = match tenant_of(document, &fault.path) {
            Some(tenant) if !fault.message.contains(&tenant) => {
                format!("{tenant}: {}", fault.message)
            }
            _ => fault.message,
        };
        let located = document.fault(&fault.path, message);
        match fault.known {
            None => located,
            Some(known) => located.with_known(
                &known.what,
                &known.written,
                known.known.iter().map(String::as_str),
            ),
        }
    };
    faults.into_iter().map(place).collect()
}

/// The tenant that a path like `[8].tenant.projects` is in, as messages call it.
fn tenant_of(document: &Document, path: &str) -> Option<String> {
    let (item, _) = path.split_once(".tenant")?;
    let name = document.root.at_path(&format!("{item}.tenant.name"))?;
    match &name.value {
        Value::Str(name) if !name.is_empty() => Some(format!("tenant `{name}`")),
        _ => None,
    }
}
