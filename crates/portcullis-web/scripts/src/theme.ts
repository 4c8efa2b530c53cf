// The theme that a person chose, for this browser: light, dark, or as the system has it. Styles do the rest. It runs
// before anything is drawn, so it is no module and stays small.

const KEY = "portcullis-theme";
const root = document.documentElement;

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // storage is off
  }
}

function apply(theme: string): void {
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  else delete root.dataset["theme"];
}

function choose(theme: string): void {
  apply(theme);
  try {
    if (theme) localStorage.setItem(KEY, theme);
    else localStorage.removeItem(KEY);
  } catch {
    // It lasts as long as the page.
  }
}

apply(stored());

document.addEventListener("DOMContentLoaded", () => {
  const label = document.getElementById("theme");
  const select = label?.querySelector("select");
  if (!label || !select) return;
  select.value = root.dataset["theme"] ?? "";
  select.addEventListener("change", () => choose(select.value));
  label.hidden = false;
  // Chosen on another page of this browser.
  addEventListener("storage", (event) => {
    if (event.key !== KEY && event.key !== null) return;
    apply(stored());
    select.value = root.dataset["theme"] ?? "";
  });
});
