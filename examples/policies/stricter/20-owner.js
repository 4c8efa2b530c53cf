if (object.kind === "Pod" && req.namespace.startsWith("shop") && !object.metadata.labels?.owner)
  return "pods of the shop say who owns them"
