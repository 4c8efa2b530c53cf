//! The tenants file.

use portcullis_config::AccessSettings;
use portcullis_document::{Fault, Warning, yaml};
use portcullis_roles::{LeftOut, Load, Roles};

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
    } = Roles::load(&document, previous).map_err(|faults| faults.0)?;
    Ok(Tenants {
        text: source.text().to_owned(),
        roles,
        left_out,
        warnings: warnings.into_iter().map(Warning::from).collect(),
    })
}
