//! A browser without scripts.

use crate::harness::{Answer, Connection, request};

/// A browser without scripts: it keeps cookies and asks for pages.
#[derive(Clone)]
pub(crate) struct Browser {
    pub(crate) port: u16,
    pub(crate) jar: Vec<(String, String)>,
}

impl Browser {
    pub(crate) fn new(port: u16) -> Self {
        let jar = Vec::new();
        Self { port, jar }
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let jar: Vec<String> = self.jar.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let jar = jar.join("; ");
        let mut all = vec![("Accept", "text/html,*/*;q=0.8"), ("Cookie", &jar)];
        all.extend_from_slice(headers);
        let mut connection = Connection::tcp(self.port).unwrap();
        connection
            .send(&request(method, path, &all, body.as_bytes()))
            .unwrap();
        let answer = connection.receive().expect("no answer");
        let set = answer
            .headers
            .iter()
            .filter(|(n, _)| n.eq_ignore_ascii_case("set-cookie"));
        for (_, text) in set {
            let (name, value) = text.split(';').next().unwrap().split_once('=').unwrap();
            self.jar.retain(|(own, _)| own != name);
            if !value.is_empty() {
                self.jar.push((name.to_owned(), value.to_owned()));
            }
        }
        answer
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post_form(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = "http://localhost";
        let body: Vec<String> = fields.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let headers = [
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Origin", origin),
        ];
        self.send("POST", path, &headers, &body.join("&"))
    }

    /// Fills in the form and sends it.
    pub(crate) fn sign_in(&mut self, token: &str, next: &str) -> Answer {
        let page = self.get(&format!("/sign-in?next={next}"));
        assert_eq!(page.status, 200, "{}", page.text());
        let csrf = hidden(&page.text(), "csrf");
        let next = hidden(&page.text(), "next").replace("&amp;", "%26");
        self.post_form(
            "/sign-in",
            &[("token", token), ("csrf", &csrf), ("next", &next)],
        )
    }

    pub(crate) fn is_signed_in(&mut self) -> bool {
        self.get("/auth/session").status == 200
    }

    pub(crate) fn csrf(&mut self) -> String {
        let page = self.get("/");
        assert_eq!(page.status, 200, "{}", page.text());
        hidden(&page.text(), "csrf")
    }
}

/// The value of a hidden field.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.split_once(&start).expect("no such field").1;
    rest.split_once('"').unwrap().0.to_owned()
}
