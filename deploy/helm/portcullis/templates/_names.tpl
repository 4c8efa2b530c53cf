{{/* Names, labels, and the image. */}}

{{- define "portcullis.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 44 characters, so that every suffix fits into the 63 of a DNS label. */}}
{{- define "portcullis.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 44 | trimSuffix "-" }}
{{- else if contains (include "portcullis.name" .) .Release.Name }}
{{- .Release.Name | trunc 44 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "portcullis.name" .) | trunc 44 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "portcullis.selectorLabels" -}}
app.kubernetes.io/name: {{ include "portcullis.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "portcullis.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end }}
{{- include "portcullis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: portcullis
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "portcullis.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "portcullis.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "portcullis.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The namespaces that are never asked about, as a list: what runs the cluster, and what runs Portcullis. */}}
{{- define "portcullis.exemptNamespaces" -}}
{{- concat (list "kube-node-lease" "kube-system" .Release.Namespace) .Values.webhooks.exemptNamespaces | uniq | toYaml }}
{{- end }}

{{/* The Secret with the certificate, whoever creates it. */}}
{{- define "portcullis.tlsSecret" -}}
{{- if eq .Values.tls.mode "existingSecret" }}
{{- .Values.tls.existingSecret.name }}
{{- else }}
{{- include "portcullis.fullname" . }}-tls
{{- end }}
{{- end }}

{{/* The Services in front of the servers, as a list. */}}
{{- define "portcullis.services" -}}
- {{ include "portcullis.fullname" . }}
{{- if .Values.api.enabled }}
- {{ include "portcullis.fullname" . }}-api
{{- end }}
{{- if .Values.authorization.enabled }}
- {{ include "portcullis.fullname" . }}-authorization
{{- end }}
{{- end }}

{{/* The host names by which they are called, as a list. */}}
{{- define "portcullis.dnsNames" -}}
{{- range include "portcullis.services" . | fromYamlArray }}
- {{ . }}.{{ $.Release.Namespace }}.svc
- {{ . }}.{{ $.Release.Namespace }}.svc.cluster.local
{{- end }}
{{- range .Values.tls.dnsNames }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* The IP addresses. API servers call the authorization webhook by one. */}}
{{- define "portcullis.ipAddresses" -}}
{{- if and .Values.authorization.enabled .Values.authorization.service.clusterIP }}
- {{ .Values.authorization.service.clusterIP | quote }}
{{- end }}
{{- range .Values.tls.ipAddresses }}
- {{ . | quote }}
{{- end }}
{{- end }}
