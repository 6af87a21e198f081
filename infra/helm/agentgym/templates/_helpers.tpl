{{- define "agentgym.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels of an object; takes a list of the root and the component. */}}
{{- define "agentgym.labels" -}}
{{- $root := index . 0 -}}
{{ include "agentgym.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{- define "agentgym.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "agentgym.secret" -}}
{{- if .Values.secrets.existing }}{{ .Values.secrets.existing }}{{ else }}{{ include "agentgym.name" . }}{{ end }}
{{- end }}

{{/* An image by its digest, else by a tag that says which one it is; takes a list of the root and `server` or `worker`. */}}
{{- define "agentgym.image" -}}
{{- $kind := index . 1 -}}
{{- $image := get (index . 0).Values.image $kind -}}
{{- $repository := required (printf "image.%s.repository is required" $kind) $image.repository -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else if eq (toString $image.tag) "latest" -}}
{{ fail (printf "image.%s.tag is latest, which may be another image tomorrow" $kind) }}
{{- else -}}
{{ $repository }}:{{ required (printf "image.%s needs a digest or a tag" $kind) $image.tag }}
{{- end -}}
{{- end }}

{{- define "agentgym.serviceAccount" -}}
{{- if .Values.server.serviceAccount.name }}{{ .Values.server.serviceAccount.name }}{{ else if .Values.server.serviceAccount.create }}{{ include "agentgym.name" . }}-server{{ else }}default{{ end }}
{{- end }}

{{- define "agentgym.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings of the server and of its migrations. Secrets are files. */}}
{{- define "agentgym.serverEnv" -}}
{{- $keys := list "database-url" "secret" "setup-secret" "metrics-token" "mail-url" -}}
{{- $variables := dict "database-url" "DATABASE_URL" "secret" "AGENTGYM_SECRET" "setup-secret" "AGENTGYM_SETUP_SECRET" "metrics-token" "AGENTGYM_METRICS_TOKEN" "mail-url" "AGENTGYM_MAIL" -}}
- { name: AGENTGYM_PUBLIC_URL, value: {{ required "publicUrl is required: https://gym.example.com" .Values.publicUrl | quote }} }
- { name: AGENTGYM_MAIL_FROM, value: {{ required "mailFrom is required: gym@example.com" .Values.mailFrom | quote }} }
- { name: AGENTGYM_TRUSTED_PROXIES, value: {{ .Values.server.trustedProxies | quote }} }
- { name: AGENTGYM_S3_BUCKET, value: {{ required "storage.bucket is required" .Values.storage.bucket | quote }} }
{{- with .Values.storage.region }}
- { name: AGENTGYM_S3_REGION, value: {{ . | quote }} }
{{- end }}
{{- with .Values.storage.endpoint }}
- { name: AGENTGYM_S3_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- with .Values.storage.prefix }}
- { name: AGENTGYM_S3_PREFIX, value: {{ . | quote }} }
{{- end }}
{{- range $keys }}
- { name: {{ get $variables . }}_FILE, value: /run/secrets/agentgym/{{ . }} }
{{- end }}
{{- if .Values.storage.credentials }}
- { name: AWS_ACCESS_KEY_ID_FILE, value: /run/secrets/agentgym/storage-access-key }
- { name: AWS_SECRET_ACCESS_KEY_FILE, value: /run/secrets/agentgym/storage-secret-key }
{{- end }}
{{- range $name, $value := .Values.server.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- with .Values.server.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "agentgym.serverVolumes" -}}
- name: secrets
  secret:
    secretName: {{ include "agentgym.secret" . }}
    items:
      {{- $keys := list "database-url" "secret" "setup-secret" "metrics-token" "mail-url" }}
      {{- if .Values.storage.credentials }}{{ $keys = concat $keys (list "storage-access-key" "storage-secret-key") }}{{ end }}
      {{- range $keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
- name: data
  emptyDir: { sizeLimit: 64Mi }
- name: tmp
  emptyDir: { sizeLimit: {{ .Values.server.temporarySize }} }
{{- end }}

{{- define "agentgym.serverMounts" -}}
- { name: secrets, mountPath: /run/secrets/agentgym, readOnly: true }
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "agentgym.serverPodSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* The pod of a group of workers; takes a dict of root, component and worker. */}}
{{- define "agentgym.workerPod" -}}
{{- $root := .root -}}
{{- $worker := .worker -}}
{{- $sandbox := $worker.sandbox -}}
metadata:
  labels:
    {{- include "agentgym.labels" (list $root .component) | nindent 4 }}
    agentgym.dev/role: worker
    {{- if $worker.gangs }}
    agentgym.dev/gangs: "true"
    {{- end }}
  {{- with $worker.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  restartPolicy: {{ if eq $worker.mode "deployment" }}Always{{ else }}Never{{ end }}
  terminationGracePeriodSeconds: {{ $worker.terminationGracePeriodSeconds }}
  {{- if $sandbox.userNamespace }}
  hostUsers: false
  {{- end }}
  {{- with $sandbox.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  containers:
    - name: worker
      image: {{ include "agentgym.image" (list $root "worker") }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        - worker
        - --kinds={{ join "," $worker.kinds }}
        {{- if $worker.slots }}
        - --slots={{ $worker.slots }}
        {{- end }}
        {{- if $worker.priceMinorPerHour }}
        - --price={{ $worker.priceMinorPerHour }}
        {{- end }}
        {{- if ne $worker.mode "deployment" }}
        - --exit-when-idle={{ $worker.exitWhenIdleSeconds }}
        {{- end }}
        {{- if $worker.gangs }}
        - --gangs
        - --advertise-address=$(POD_IP):29500
        {{- end }}
        {{- with $sandbox.withoutWalls }}
        - --without-walls={{ join "," . }}
        {{- end }}
      env:
        {{- if $worker.gangs }}
        - name: POD_IP
          valueFrom: { fieldRef: { fieldPath: status.podIP } }
        {{- end }}
        - { name: AGENTGYM_SERVER, value: http://{{ include "agentgym.name" $root }}-server:{{ $root.Values.server.service.port }} }
        - { name: AGENTGYM_TOKEN_FILE, value: /run/secrets/agentgym/worker-token }
        {{- with $worker.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      volumeMounts:
        - { name: token, mountPath: /run/secrets/agentgym, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
      resources:
        requests:
          {{- toYaml ($worker.resources.requests | default dict) | nindent 10 }}
        limits:
          {{- toYaml ($worker.resources.limits | default dict) | nindent 10 }}
          {{- if $worker.gpu.count }}
          {{ $worker.gpu.resource }}: {{ $worker.gpu.count }}
          {{- end }}
      securityContext:
        {{- include "agentgym.container" $root | nindent 8 }}
        appArmorProfile: { type: Unconfined }
        seccompProfile: {{ if $sandbox.seccompProfile }}{ type: Localhost, localhostProfile: {{ $sandbox.seccompProfile }} }{{ else }}{ type: Unconfined }{{ end }}
  volumes:
    - name: token
      secret: { secretName: {{ include "agentgym.secret" $root }}, items: [{ key: worker-token, path: worker-token }] }
    - name: data
      emptyDir: { sizeLimit: {{ $worker.temporarySize }} }
    - name: tmp
      emptyDir: { sizeLimit: {{ $worker.temporarySize }} }
  {{- with $worker.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- $tolerations := $worker.tolerations }}
  {{- if $worker.gpu.count }}
  {{- $tolerations = append $tolerations (dict "key" $worker.gpu.resource "operator" "Exists" "effect" "NoSchedule") }}
  {{- end }}
  {{- with $tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $worker.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
