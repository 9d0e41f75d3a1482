import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'

export const DEPLOY = join(import.meta.dirname, '..')

export const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')
export const readYaml = <T>(path: string): T => parse(read(path), { merge: true })
export const readEnvFile = (path: string) => parseEnv(read(path)) as Record<string, string>

/** Paths from the folder deploy, without what is vendored and what is not committed. */
export const list = (pattern: string): string[] =>
  globSync(pattern, {
    cwd: DEPLOY,
    withFileTypes: true,
    exclude: ({ name }) => /^(test|secrets)$/.test(name),
  })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(DEPLOY, join(entry.parentPath, entry.name)))
    .sort()

/** Part of an object of Kubernetes that the checks look at. */
export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  spec: unknown
}

export interface Found<T = KubernetesObject> {
  file: string
  object: T
}

const PATCH = /\.patch\.yaml$|kustomization\.yaml$/

export const kubernetesObjects = (): Found[] =>
  list('kustomize/**/*.yaml')
    .filter((file) => !PATCH.test(file))
    .flatMap((file) =>
      parseAllDocuments(read(file)).map((document) => {
        if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('\n')}`)
        return { file, object: document.toJS() as KubernetesObject }
      }),
    )

export interface Container {
  name: string
  image: string
  args: string[]
  env: { name: string; value: string }[]
  envFrom: { configMapRef: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  volumeMounts: { name: string; mountPath: string }[]
  resources: { requests: Record<string, string>; limits: Record<string, string> }
  securityContext: Record<string, unknown> & { capabilities: { drop: string[]; add?: string[] } }
  startupProbe?: Probe
  readinessProbe?: Probe
  livenessProbe?: Probe
}

export interface Probe {
  httpGet: { path: string; port: string }
}

export interface PodSpec {
  serviceAccountName: string
  automountServiceAccountToken: boolean
  securityContext: Record<string, unknown> & { seccompProfile: { type: string } }
  containers: Container[]
  initContainers?: Container[]
  volumes: { name: string; secret: { secretName: string } }[]
  [field: string]: unknown
}

/** Everything that makes pods. */
export const podSpecs = (): { name: string; labels: Record<string, string>; pod: PodSpec }[] =>
  kubernetesObjects()
    .filter(({ object }) =>
      ['Deployment', 'Job', 'StatefulSet', 'DaemonSet', 'CronJob'].includes(object.kind),
    )
    .map(({ object }) => {
      const { template } = object.spec as {
        template: { metadata: { labels: Record<string, string> }; spec: PodSpec }
      }
      return { name: object.metadata.name, labels: template.metadata.labels, pod: template.spec }
    })
