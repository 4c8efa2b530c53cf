// Links that share what is in a form, and forms that such a link fills in. Nothing of it is sent to a server, and nothing
// is evaluated before the person who opened the link asks for it.

import { copy } from "../clipboard";
import { statusLine } from "../status";
import { decode, encode, type Field, LinkError } from "./fragment";

const START = "#p=";

/** Makes `[data-share]` of a form work, and fills the form in if the page was opened by such a link. */
export async function offerSharing(form: HTMLFormElement): Promise<void> {
  const status = statusLine("hint");
  const button = form.querySelector<HTMLElement>("[data-share]");
  if (button) {
    document.documentElement.dataset["shares"] = "";
    button.hidden = false;
    button.after(" ", status);
    button.addEventListener("click", () => void share(form, status));
  } else {
    form.append(status);
  }
  addEventListener("hashchange", () => void receive(form, status));
  await receive(form, status);
}

async function share(form: HTMLFormElement, status: HTMLElement): Promise<void> {
  try {
    const fragment = START + (await encode(fields(form)));
    history.replaceState(history.state, "", fragment);
    const done = await copy(location.href);
    status.textContent = done
      ? "The link is copied. It has what is in this form, and is not sent to the server."
      : "The link is in the address bar.";
  } catch (error) {
    status.textContent = told("No link", error);
  }
}

async function receive(form: HTMLFormElement, status: HTMLElement): Promise<void> {
  if (!location.hash.startsWith(START)) return;
  try {
    fill(form, await decode(location.hash.slice(START.length)));
    status.textContent = "The form is filled in from the link. Press Run to evaluate it.";
  } catch (error) {
    status.textContent = told("The link is ignored", error);
  }
}

function told(what: string, error: unknown): string {
  if (error instanceof LinkError) return `${what}: ${error.message}.`;
  throw error;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Fields that people fill in. Hidden ones prove a session, and are not for others. */
function controls(form: HTMLFormElement): Control[] {
  const isControl = (element: Element): element is Control =>
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement && !NOT_SHARED.includes(element.type));
  return [...form.elements].filter(isControl).filter((control) => control.name !== "");
}

const NOT_SHARED = ["hidden", "password", "file", "submit", "button", "reset", "image"];

function isChoice(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && ["checkbox", "radio"].includes(control.type);
}

function fields(form: HTMLFormElement): Field[] {
  const given = controls(form).filter((control) => !isChoice(control) || control.checked);
  return given.map((control) => [control.name, control.value]);
}

/** Fills in the fields that the form has; the others of it become empty. */
function fill(form: HTMLFormElement, given: readonly Field[]): void {
  for (const control of controls(form)) {
    const values = given.filter(([name]) => name === control.name).map(([, value]) => value);
    if (isChoice(control)) control.checked = values.includes(control.value);
    else if (values[0] !== undefined || !(control instanceof HTMLSelectElement)) control.value = values[0] ?? "";
    control.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
