// Whether a person is filling in a form: what they typed must not be replaced.

/** Whether a form within an element is being edited. */
export function isEdited(element: Element): boolean {
  const focused = document.activeElement;
  const fields = element.querySelectorAll("input, select, textarea");
  return [...fields].some((field) => (field === focused && isTyped(field)) || isChanged(field));
}

function isTyped(field: Element): boolean {
  return !(field instanceof HTMLInputElement) || !["button", "submit", "reset"].includes(field.type);
}

function isChanged(field: Element): boolean {
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (field instanceof HTMLSelectElement) {
    const given = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(given, 0);
  }
  if (!(field instanceof HTMLInputElement) || field.type === "hidden") return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
}
