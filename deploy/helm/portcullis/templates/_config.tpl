{{/*
The configuration file. Paths in it are relative to its folder, /etc/portcullis/config, so that the same file is valid
wherever these folders are beside each other.
*/}}

{{/* A map of `tcp`, `tls` and what else a listener has on this port. */}}
{{- define "portcullis.listener" -}}
{{- $values := .context.Values }}
name: {{ .name }}
tcp: {{ printf "%s:%d" $values.listen.address (int (get $values.listen.ports .name)) | quote }}
tls:
  {{- if eq $values.tls.mode "managed" }}
  managed:
    secret: {{ .context.Release.Namespace }}/{{ include "portcullis.tlsSecret" .context }}
    {{- if or $values.webhooks.validating.enabled $values.webhooks.mutating.enabled }}
    webhooks: [{{ include "portcullis.fullname" .context }}]
    {{- end }}
    validity: {{ $values.tls.managed.validity }}
    dnsNames:
      {{- include "portcullis.dnsNames" .context | nindent 6 }}
      {{- include "portcullis.ipAddresses" .context | nindent 6 }}
  {{- else }}
  certificate: ../tls/tls.crt
  key: ../tls/tls.key
  {{- end }}
  {{- with .clientCA }}
  {{- if .configMap }}
  clientCA: ../client-ca-{{ $.name }}/{{ .key }}
  {{- end }}
  {{- end }}
serves: {{ toJson .serves }}
{{- end }}

{{- define "portcullis.listeners" -}}
- {{- include "portcullis.listener" (dict "context" . "name" "webhooks" "serves" (list "kubernetes") "clientCA" .Values.webhooks.clientCA) | nindent 2 }}
{{- if .Values.authorization.enabled }}
- {{- include "portcullis.listener" (dict "context" . "name" "authorization" "serves" (list "kubernetes") "clientCA" .Values.authorization.clientCA) | nindent 2 }}
{{- end }}
{{- if .Values.api.enabled }}
- {{- include "portcullis.listener" (dict "context" . "name" "api" "serves" .Values.api.serves) | nindent 2 }}
{{- end }}
- name: operations
  tcp: {{ printf "%s:%d" .Values.listen.address (int .Values.listen.ports.operations) | quote }}
  # Nodes ask for health without TLS; the NetworkPolicy says who else may connect.
  insecure: true
  serves: [health, metrics]
{{- with .Values.extraListeners }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "portcullis.policyDirs" -}}
{{- if .Values.policies }}
- ../policies/chart
{{- end }}
{{- range .Values.policyConfigMaps }}
- ../policies/{{ . }}
{{- end }}
{{- with .Values.config.policyDirs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "portcullis.config" -}}
{{- $made := dict "listeners" (include "portcullis.listeners" . | fromYamlArray) }}
{{- $_ := set $made "shutdown" (dict
      "delay" (printf "%ds" (int .Values.shutdown.delaySeconds))
      "grace" (printf "%ds" (int .Values.shutdown.graceSeconds))) }}
{{- with include "portcullis.policyDirs" . }}
{{- $_ := set $made "policyDirs" (fromYamlArray .) }}
{{- end }}
{{- if .Values.kube.enabled }}
{{- $_ := set $made "kube" (dict "kinds" .Values.kube.kinds "memory" .Values.kube.memory) }}
{{- end }}
{{- if .Values.store.urlSecret.name }}
{{- $_ := set $made "store" (dict "urlFile" (printf "../store/%s" .Values.store.urlSecret.key)) }}
{{- else if .Values.store.url }}
{{- $_ := set $made "store" (dict "url" .Values.store.url) }}
{{- end }}
{{- if .Values.tenants.document }}
{{- $_ := set $made "tenants" (dict "file" "tenants.yaml") }}
{{- else if .Values.tenants.configMap.name }}
{{- $_ := set $made "tenants" (dict "file" (printf "../tenants/%s" .Values.tenants.configMap.key)) }}
{{- end }}
{{- if and .Values.api.enabled .Values.api.sessionKeySecret.name }}
{{- $_ := set $made "sessions" (dict "keyFile" (printf "../sessions/%s" .Values.api.sessionKeySecret.key)) }}
{{- end }}
{{- mergeOverwrite (omit .Values.config "policyDirs" | deepCopy) $made | toYaml }}
{{- end }}

{{/* The keys of the configuration that the chart writes, and the values to set instead. */}}
{{- define "portcullis.writtenKeys" -}}
kube: kube
listener: extraListeners
listeners: listen and extraListeners
shutdown: shutdown
store: store
tenants: tenants
{{- end }}

{{/* What values.schema.json can't say. */}}
{{- define "portcullis.validate" -}}
{{- range $key, $values := include "portcullis.writtenKeys" . | fromYaml }}
{{- if hasKey $.Values.config $key }}
{{- fail (printf "config.%s is written by the chart: set %s" $key $values) }}
{{- end }}
{{- end }}
{{- if or (regexMatch "^[a-z]+://[^/@]*:[^/@]*@" .Values.store.url) (regexMatch "[?&](ssl)?password=" .Values.store.url) }}
{{- fail "store.url must not contain a password: use store.passwordSecret or store.urlSecret" }}
{{- end }}
{{- $manyServers := gt (int .Values.replicaCount) 1 }}
{{- $hasDatabase := or .Values.store.url .Values.store.urlSecret.name }}
{{- if and (eq .Values.tls.mode "existingSecret") (not (and .Values.tls.existingSecret.name .Values.tls.existingSecret.caBundle)) }}
{{- fail "tls.existingSecret.name and tls.existingSecret.caBundle are required with tls.mode: existingSecret" }}
{{- end }}
{{- if and .Values.store.url .Values.store.urlSecret.name }}
{{- fail "store.url and store.urlSecret can't be combined" }}
{{- end }}
{{- if and .Values.kube.kinds (not .Values.kube.enabled) }}
{{- fail "kube.kinds needs kube.enabled: true" }}
{{- end }}
{{- if and .Values.store.passwordSecret.name (not .Values.store.url) }}
{{- fail "store.passwordSecret needs store.url" }}
{{- end }}
{{- if and .Values.tenants.document .Values.tenants.configMap.name }}
{{- fail "tenants.document and tenants.configMap can't be combined" }}
{{- end }}
{{- if and .Values.api.enabled $manyServers (not .Values.api.sessionKeySecret.name) }}
{{- fail "api.sessionKeySecret.name is required with more than one replica: all of them have to accept a session that one of them signed" }}
{{- end }}
{{- if and .Values.api.enabled $manyServers (has "ci" .Values.api.serves) (not $hasDatabase) }}
{{- fail "api.serves: `ci` needs store.url or store.urlSecret with more than one replica: jobs are kept in the store, which all of them have to share" }}
{{- end }}
{{- end }}
