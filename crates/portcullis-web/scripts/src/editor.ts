// The playground's editors: highlighted and numbered lines in place of `textarea[data-editor]`, and links that share what
// is in its form. What is typed is always in the text area as well, so that the form is sent as without this script.

import { upgrade } from "./editor/field";
import { offerSharing } from "./editor/share";

const forms = new Set<HTMLFormElement>();
for (const area of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-editor]")) {
  upgrade(area);
  if (area.form) forms.add(area.form);
}

for (const form of forms) {
  void offerSharing(form);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    const runs = form.querySelector<HTMLElement>("button[data-runs]");
    form.requestSubmit(runs ?? form.querySelector<HTMLElement>("button[type=submit], button:not([type])"));
  });
}
