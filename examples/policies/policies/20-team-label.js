// A body without imports: `return` and `object` as in the configuration file.
if (req.operation !== "CREATE" || object.kind !== "Pod") return
object.metadata.labels = { team: req.namespace.split("-")[0], ...object.metadata.labels }
