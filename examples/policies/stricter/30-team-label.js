if (req.operation !== "CREATE" || object.kind !== "Pod") return
object.metadata.labels = { ...object.metadata.labels, team: req.namespace }
