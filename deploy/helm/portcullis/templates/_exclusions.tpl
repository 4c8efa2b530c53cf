{{/*
What the cluster needs to heal, and what no namespaceSelector leaves out: conditions for rules that cover it, the same that
`portcullis generate webhooks` writes.
*/}}

{{/* Whether a rule covers leases, reviews, nodes or what the API server writes itself: then `true`. */}}
{{- define "portcullis.coversVital" -}}
{{- $vital := list "clusterrolebindings" "clusterroles" "endpoints" "endpointslices" "nodes" "nodes/status"
      "certificatesigningrequests" "certificatesigningrequests/approval" "certificatesigningrequests/status"
      "csinodes" "volumeattachments" }}
{{- $covers := false }}
{{- range .Values.webhooks.rules }}
{{- range .resources }}
{{- if or (hasPrefix "*" .) (hasSuffix "/*" .) (has . $vital) }}
{{- $covers = true }}
{{- end }}
{{- end }}
{{- end }}
{{- $covers }}
{{- end }}

{{- define "portcullis.exclusions" -}}
{{- if eq (include "portcullis.coversVital" .) "true" }}
- name: exclude-leases
  expression: "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')"
- name: exclude-access-reviews
  expression: "!(request.resource.group in ['authentication.k8s.io', 'authorization.k8s.io'])"
- name: exclude-api-server
  expression: "request.userInfo.username != 'system:apiserver'"
- name: exclude-control-plane
  expression: "(has(request.namespace) && request.namespace != '') || !('system:nodes' in request.userInfo.groups || 'system:serviceaccounts:kube-system' in request.userInfo.groups || request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler'])"
{{- end }}
{{- end }}
