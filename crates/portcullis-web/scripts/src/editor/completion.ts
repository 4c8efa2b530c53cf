// Completion for policies: what Portcullis gives them, beside what the language knows itself.

import { type CompletionContext, type CompletionResult, ifNotIn } from "@codemirror/autocomplete";
import { javascriptLanguage } from "@codemirror/lang-javascript";
import { type Api, fitting } from "./members";
import api from "./policy-api.json";

const NOT_IN = ["String", "TemplateString", "LineComment", "BlockComment", "RegExp", "PropertyDefinition"];

function source(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const found = fitting(line.text.slice(0, context.pos - line.from), api as Api, context.explicit);
  if (!found) return null;
  return {
    from: context.pos - found.typed,
    options: found.members.map(({ label, kind, detail, info }) => ({
      label,
      type: kind,
      detail,
      ...(info === undefined ? {} : { info }),
    })),
    validFor: /^[\w$]*$/,
  };
}

export const policyCompletion = javascriptLanguage.data.of({ autocomplete: ifNotIn(NOT_IN, source) });
