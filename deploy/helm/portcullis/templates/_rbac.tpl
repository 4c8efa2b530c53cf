{{/* Rules for what is configured, and no more. */}}

{{/* The resource of a kind, as Kubernetes guesses it: lower case, plural. */}}
{{- define "portcullis.resource" -}}
{{- $kind := lower . }}
{{- if eq $kind "endpoints" }}
{{- $kind }}
{{- else if regexMatch "(s|x|z|ch|sh)$" $kind }}
{{- $kind }}es
{{- else if regexMatch "[^aeiou]y$" $kind }}
{{- trimSuffix "y" $kind }}ies
{{- else }}
{{- $kind }}s
{{- end }}
{{- end }}

{{/* The resources of the core group that plug-ins read, by plug-in. */}}
{{- define "portcullis.pluginReads" -}}
LimitRanger: [limitranges]
NamespaceLifecycle: [namespaces]
PodNodeSelector: [namespaces]
PodSecurity: [namespaces, pods]
PodTolerationRestriction: [namespaces]
ResourceQuota: [resourcequotas]
{{- end }}

{{/* Those of the configured plug-ins, as a list. */}}
{{- define "portcullis.reads" -}}
{{- $reads := include "portcullis.pluginReads" . | fromYaml }}
{{- $admission := .Values.config.admission | default dict }}
{{- $names := $admission.order | default list }}
{{- range $admission.plugins }}
{{- $names = append $names .name }}
{{- end }}
{{- $all := list }}
{{- range $names }}
{{- $all = concat $all (get $reads . | default list) }}
{{- end }}
{{- $all | uniq | sortAlpha | toYaml }}
{{- end }}

{{- define "portcullis.clusterRules" -}}
{{- if eq .Values.tls.mode "managed" }}
{{- if or .Values.webhooks.validating.enabled .Values.webhooks.mutating.enabled }}
# The CA certificate in its own registrations; it looks for both kinds.
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  resourceNames: [{{ include "portcullis.fullname" . }}]
  verbs: [get, patch]
{{- end }}
{{- end }}
{{- if .Values.kube.enabled }}
{{- with include "portcullis.reads" . | fromYamlArray }}
# What plug-ins read.
- apiGroups: [""]
  resources: {{ toJson . }}
  verbs: [get, list, watch]
{{- end }}
{{- range .Values.kube.kinds }}
{{- $parts := splitList "/" . }}
# {{ . }}
- apiGroups: [{{ if gt (len $parts) 2 }}{{ first $parts }}{{ else }}""{{ end }}]
  resources: [{{ include "portcullis.resource" (last $parts) }}]
  verbs: [get, list, watch]
{{- end }}
{{- end }}
{{- with .Values.rbac.clusterRules }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Whether the pods talk to the API server. */}}
{{- define "portcullis.needsToken" -}}
{{- if or .Values.serviceAccount.automountToken (eq .Values.tls.mode "managed") .Values.kube.enabled .Values.rbac.clusterRules }}true{{ else }}false{{ end }}
{{- end }}
