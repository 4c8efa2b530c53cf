//! Opening a page in the browser of a desktop, without a shell.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::output;

/// Opens an address; does nothing where there is no desktop.
///
/// # Errors
///
/// When the program that `BROWSER` names, or `xdg-open`, can't be started.
pub(crate) fn open(address: &str) -> Result<(), String> {
    let Some((program, arguments)) = command(address, std::env::var_os) else {
        output::detail(|| "no desktop found: no browser is opened".to_owned());
        return Ok(());
    };
    output::detail(|| format!("opening a browser with {program}"));
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command
        .spawn()
        .map_err(|error| format!("{program}: {}", output::reason(&error)))?;
    // It is waited for, so that nothing is left of it when it ends.
    let waiting = std::thread::Builder::new().name("browser".to_owned());
    waiting
        .spawn(move || child.wait())
        .map(drop)
        .map_err(|error| output::reason(&error))
}

/// Whether there is a browser to open.
pub(crate) fn is_there() -> bool {
    command("", std::env::var_os).is_some()
}

/// The program and its arguments: the first one of `BROWSER`, in which `%s` is the address, or else `xdg-open` on a
/// desktop.
fn command(
    address: &str,
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> Option<(String, Vec<String>)> {
    let given = |name| variable(name).filter(|value| !value.is_empty());
    let named = given("BROWSER").and_then(|all| {
        let all = all.into_string().ok()?;
        let mut words = all.split(':').next()?.split_whitespace().map(str::to_owned);
        let program = words.next()?;
        let mut arguments: Vec<String> = words.map(|word| word.replace("%s", address)).collect();
        if !all.contains("%s") {
            arguments.push(address.to_owned());
        }
        Some((program, arguments))
    });
    let is_desktop = given("DISPLAY")
        .or_else(|| given("WAYLAND_DISPLAY"))
        .is_some();
    let usual = || ("xdg-open".to_owned(), vec![address.to_owned()]);
    named.or_else(|| is_desktop.then(usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_browser() {
        let with = |variables: &'static [(&str, &str)]| {
            let found = command("http://x/?a=b&c", |name| {
                let mut all = variables.iter();
                all.find(|(own, _)| *own == name)
                    .map(|(_, value)| OsString::from(value))
            });
            found.map(|(program, arguments)| format!("{program} {}", arguments.join(" ")))
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("BROWSER", "")]), None);
        assert_eq!(
            with(&[("DISPLAY", ":0")]).as_deref(),
            Some("xdg-open http://x/?a=b&c")
        );
        assert_eq!(
            with(&[("WAYLAND_DISPLAY", "w")]).as_deref(),
            Some("xdg-open http://x/?a=b&c")
        );
        assert_eq!(
            with(&[("BROWSER", "firefox:w3m")]).as_deref(),
            Some("firefox http://x/?a=b&c")
        );
        let own = with(&[("BROWSER", "chromium --app=%s"), ("DISPLAY", ":0")]);
        assert_eq!(own.as_deref(), Some("chromium --app=http://x/?a=b&c"));
    }
}
