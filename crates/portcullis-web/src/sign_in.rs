//! The page for signing in: a form for a token, and a link for each provider.

use askama::Template;

use crate::frame::Frame;
use crate::shown::sentence;

/// What the page for signing in shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignIn {
    /// Where to go afterwards: a path of this server.
    pub next: String,
    /// What proves that the form was made for this browser.
    pub csrf: String,
    /// Providers: their name, and where signing in with them begins.
    pub providers: Vec<(String, String)>,
    /// What was wrong the last time.
    pub problem: Option<String>,
}

#[derive(Debug, Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    frame: Frame,
    form: &'a SignIn,
    problem: Option<String>,
}

impl SignIn {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let page = SignInPage {
            frame: Frame::bare("Sign in".to_owned()),
            form: self,
            problem: self.problem.as_deref().map(sentence),
        };
        page.render().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_text() {
        let page = SignIn {
            next: "/x?\"><script>".to_owned(),
            providers: vec![("<b>".to_owned(), "/auth/login?realm=b".to_owned())],
            problem: Some("token <expired>".to_owned()),
            ..SignIn::default()
        };
        let html = page.html();
        assert!(
            !html.contains("<script>") && !html.contains("<b>"),
            "{html}"
        );
        assert!(html.contains("Token &#60;expired&#62;."), "{html}");
    }
}
