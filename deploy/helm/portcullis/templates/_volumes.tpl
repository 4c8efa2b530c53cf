{{/* What is mounted: each folder is named once, here. */}}

{{/* A list of {name, path, source}; the files of Secrets can be read by the group of the pod alone. */}}
{{- define "portcullis.mounts" -}}
- {name: config, path: /etc/portcullis/config, source: {configMap: {name: {{ include "portcullis.fullname" . }}}}}
{{- if ne .Values.tls.mode "managed" }}
- {name: tls, path: /etc/portcullis/tls, source: {secret: {secretName: {{ include "portcullis.tlsSecret" . }}, defaultMode: 0440}}}
{{- end }}
{{- if .Values.policies }}
- {name: policies, path: /etc/portcullis/policies/chart, source: {configMap: {name: {{ include "portcullis.fullname" . }}-policies}}}
{{- end }}
{{- range $index, $name := .Values.policyConfigMaps }}
- {name: policies-{{ $index }}, path: /etc/portcullis/policies/{{ $name }}, source: {configMap: {name: {{ $name }}}}}
{{- end }}
{{- with .Values.tenants.configMap.name }}
- {name: tenants, path: /etc/portcullis/tenants, source: {configMap: {name: {{ . }}}}}
{{- end }}
{{- with .Values.store.urlSecret.name }}
- {name: store, path: /etc/portcullis/store, source: {secret: {secretName: {{ . }}, defaultMode: 0440}}}
{{- end }}
{{- with .Values.store.caConfigMap }}
{{- if .name }}
- {name: store-ca, path: /etc/portcullis/store-ca, source: {configMap: {name: {{ .name }}, items: [{key: {{ .key }}, path: ca.crt}]}}}
{{- end }}
{{- end }}
{{- with .Values.webhooks.clientCA.configMap }}
- {name: client-ca-webhooks, path: /etc/portcullis/client-ca-webhooks, source: {configMap: {name: {{ . }}}}}
{{- end }}
{{- if and .Values.authorization.enabled .Values.authorization.clientCA.configMap }}
- {name: client-ca-authorization, path: /etc/portcullis/client-ca-authorization, source: {configMap: {name: {{ .Values.authorization.clientCA.configMap }}}}}
{{- end }}
{{- if and .Values.api.enabled .Values.api.sessionKeySecret.name }}
- {name: sessions, path: /etc/portcullis/sessions, source: {secret: {secretName: {{ .Values.api.sessionKeySecret.name }}, defaultMode: 0440}}}
{{- end }}
{{- range .Values.secrets }}
- {name: secret-{{ .name }}, path: /etc/portcullis/secrets/{{ .name }}, source: {secret: {secretName: {{ .secretName }}, defaultMode: 0440}}}
{{- end }}
{{- end }}
