if (object.kind === "Secret" && atob(object.data.password ?? "").length < 12)
  return "the password is too short"
