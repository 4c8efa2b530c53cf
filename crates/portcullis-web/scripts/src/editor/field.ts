// One editor in place of one text area.
//
// It is in a shadow tree, because there CodeMirror's styles are style sheets of their own instead of <style> elements, which
// the content security policy blocks.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { policyCompletion } from "./completion";
import { coverage, otherText, toldCoverage } from "./coverage";
import { HINT, HINT_STYLES, look } from "./look";

/** Puts an editor in place of a text area, which follows it. */
export function upgrade(area: HTMLTextAreaElement): EditorView {
  const label = area.labels[0];
  const host = document.createElement("div");
  host.className = "code-editor";
  const root = host.attachShadow({ mode: "open" });
  // Within a label each click would be one on the text area.
  (label?.contains(area) ? label : area).after(host);

  const hint = document.createElement("p");
  hint.id = "hint";
  hint.textContent = HINT + toldCoverage(area);
  const styles = new CSSStyleSheet();
  styles.replaceSync(HINT_STYLES);
  root.adoptedStyleSheets = [styles];

  const view = new EditorView({
    root,
    parent: root,
    doc: area.value,
    extensions: [
      keys(),
      lineNumbers(),
      history(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ icons: false }),
      language(area.dataset["editor"]),
      coverage(area),
      look,
      EditorState.tabSize.of(2),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        "aria-label": name(area, label),
        "aria-describedby": hint.id,
        spellcheck: "false",
        autocapitalize: "off",
      }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) area.value = update.state.doc.toString();
      }),
    ],
  });
  root.append(hint);
  area.hidden = true;
  area.required = false; // a browser can't point at what is hidden

  label?.addEventListener("click", (event) => {
    event.preventDefault();
    view.focus();
  });
  // Something else changed the text: a link that was opened, or the browser going back.
  const follow = () => {
    const text = view.state.doc.toString();
    if (text === area.value) return;
    view.dispatch({ changes: { from: 0, to: text.length, insert: area.value }, effects: otherText.of(null) });
    hint.textContent = HINT;
  };
  area.addEventListener("input", follow);
  addEventListener("pageshow", follow);
  return view;
}

function keys(): Extension {
  // Ctrl+Enter sends the form, instead of making an empty line.
  const others = [...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab];
  return keymap.of(others.filter((binding) => binding.key !== "Mod-Enter"));
}

/** Policies are JavaScript or TypeScript; JSON is YAML, too. */
function language(name: string | undefined): Extension {
  return name === "yaml" ? yaml() : [javascript({ typescript: true }), Prec.high(policyCompletion)];
}

/** The text of the label, without that of the field in it. */
function name(area: HTMLTextAreaElement, label: HTMLLabelElement | undefined): string {
  const texts = label ? [...label.childNodes].filter((node) => node !== area) : [];
  const text = texts.map((node) => node.textContent ?? "").join("").trim();
  return text || area.getAttribute("aria-label") || area.name;
}
