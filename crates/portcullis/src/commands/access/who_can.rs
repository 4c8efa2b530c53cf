//! Whose people may do something, for people.

use portcullis_roles::Holder;

use super::words::when;
use crate::commands::text::columns;

/// One grant a row.
pub(super) fn table(holders: &[Holder], anybody: bool, width: Option<usize>) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    if anybody {
        let anybody = ["-", "-", "always", "anybody, without signing in"];
        rows.push(anybody.map(str::to_owned).to_vec());
    }
    rows.extend(holders.iter().map(|holder| {
        let grant = &holder.grant;
        let conditions = match grant.conditions.is_empty() {
            true => "always".to_owned(),
            false => when(&grant.conditions),
        };
        vec![
            grant.rule.clone(),
            grant.role.clone(),
            conditions,
            holder.asks.clone(),
        ]
    }));
    match rows.is_empty() {
        true => String::new(),
        false => columns::table(&["RULE", "ROLE", "WHEN", "WHOSE CLAIMS"], &rows, width),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn holders_are_rows() {
        let holder = |grant, asks: &str| Holder {
            grant,
            asks: asks.to_owned(),
        };
        let holders = [
            holder(sample::admin(), "preferred_username is `admin`"),
            holder(sample::grant(), "preferred_username is `alice`"),
        ];
        assert_eq!(
            table(&holders, false, None),
            "\
RULE        ROLE          WHEN                                         WHOSE CLAIMS
admin-user  admin         always                                       preferred_username is `admin`
alice       enqueue-post  project is foo and pipeline is post or gate  preferred_username is `alice`
"
        );
        assert_eq!(table(&[], false, None), "");
        assert!(table(&[], true, None).contains("anybody, without signing in"));
    }
}
