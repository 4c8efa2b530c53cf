// Shows the description of the API and who is signed in. With a session, requests that change
// something carry its token against forged requests.
"use strict";

(function () {
  const element = (id) => document.getElementById(id);

  // Swagger UI is dark by a class; here the system's preference decides.
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const choose = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", choose);
  choose();

  // The session's token, while there is a session.
  let csrf = null;

  async function readSession() {
    let session = null;
    let signInIsThere = false;
    try {
      const answer = await fetch("/auth/session", { headers: { accept: "application/json" }, cache: "no-store" });
      signInIsThere = answer.status === 401;
      session = answer.ok ? await answer.json() : null;
    } catch {
      // Nothing is known about a session then.
    }
    csrf = session ? session.csrf : null;
    element("user").textContent = session ? "Signed in as " + session.user : "";
    element("user").hidden = !session;
    element("sign-out").hidden = !session;
    element("sign-in").hidden = !signInIsThere;
  }

  element("sign-out").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await fetch("/auth/logout", { method: "POST", headers: { "X-CSRF-Token": csrf || "" }, redirect: "manual" });
    } finally {
      await readSession();
    }
  });

  // What the viewer sends is shown as a command to copy; the token is added after that.
  function withToken(request) {
    const reads = /^(GET|HEAD|OPTIONS)$/i.test(request.method || "GET");
    const here = new URL(request.url, location.href).origin === location.origin;
    if (here && !reads) {
      request.userFetch = (url, options) => {
        const headers = new Headers(options.headers);
        if (csrf && !headers.has("Authorization")) {
          headers.set("X-CSRF-Token", csrf);
        }
        return fetch(url, Object.assign({}, options, { headers }));
      };
    }
    return request;
  }

  function afterwards(response) {
    // The session may have ended, or begun anew in another tab.
    if (csrf && (response.status === 401 || response.status === 403)) {
      readSession();
    }
    return response;
  }

  // What Swagger UI shows without need here, or in a way that keyboards and screen readers stumble on.
  function adapted({ React }) {
    const create = React.createElement;
    const nothing = () => () => null;
    const withoutSession = (original) => (_state, ...rest) => {
      const schemes = original(...rest);
      return schemes && schemes.filter((scheme) => !scheme.has("session"));
    };
    return {
      statePlugins: {
        // The browser sends the cookie of a session itself; there is nothing to type in.
        auth: { wrapSelectors: { definitionsToAuthorize: withoutSession } },
      },
      wrapComponents: {
        ServersContainer: nothing,
        InfoUrl: nothing,
        // A link inside of a button is neither. The address follows what is opened anyway.
        DeepLink: () => ({ text }) => create("span", null, text),
        InfoContainer: (Original) => (props) => create(
          "section", { "aria-label": "About" }, create(Original, props)),
        // The groups are headings of the third level: this is the second.
        operations: (Original) => (props) => create(
          React.Fragment, null, create("h2", { className: "unseen" }, "Calls"), create(Original, props)),
        TextArea: (Original) => (props) => create(Original, Object.assign({ "aria-label": "Request body" }, props)),
        CloseIcon: (Original) => (props) => create(
          React.Fragment, null, create(Original, props), create("span", { className: "unseen" }, "Close")),
        authorizationPopup: (Original, system) => (props) => {
          // Whoever opened it gets the focus back.
          const opener = React.useRef(document.activeElement);
          React.useEffect(() => () => opener.current && opener.current.focus(), []);
          const close = (event) => event.key === "Escape" && system.getSystem().authActions.showDefinitions(false);
          const dialog = { role: "dialog", "aria-modal": true, "aria-label": "Authorize", onKeyDown: close };
          return create("div", dialog, create(Original, props));
        },
      },
    };
  }

  // By path, and what reads before what changes.
  function inOrder(one, other) {
    const key = (call) => call.get("path") + " " + ["get", "post", "delete"].indexOf(call.get("method"));
    return key(one) < key(other) ? -1 : 1;
  }

  window.SwaggerUIBundle({
    url: "/openapi.json",
    domNode: element("viewer"),
    presets: [window.SwaggerUIBundle.presets.apis],
    plugins: [adapted],
    layout: "BaseLayout",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    operationsSorter: inOrder,
    validatorUrl: null,
    requestInterceptor: withToken,
    responseInterceptor: afterwards,
  });
  readSession();
})();
