import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as apps from 'kubernetes-models/apps/v1'
import * as autoscaling from 'kubernetes-models/autoscaling/v2'
import * as batch from 'kubernetes-models/batch/v1'
import * as networking from 'kubernetes-models/networking.k8s.io/v1'
import * as policy from 'kubernetes-models/policy/v1'
import * as core from 'kubernetes-models/v1'
import { describe, expect, test } from 'vitest'
import { DEPLOY, kubernetesObjects, list, podSpecs, read, readEnvFile, readYaml } from './files.ts'

type Model = new (object: never) => { validate(): void }

/** Where the official schemas of each version are. */
const MODELS: Record<string, [path: string, models: Record<string, unknown>]> = {
  v1: ['v1', core],
  'apps/v1': ['apps/v1', apps],
  'autoscaling/v2': ['autoscaling/v2', autoscaling],
  'batch/v1': ['batch/v1', batch],
  'networking.k8s.io/v1': ['networking.k8s.io/v1', networking],
  'policy/v1': ['policy/v1', policy],
}

const objects = kubernetesObjects()
const official = objects.filter(({ object }) => object.kind !== 'ServiceMonitor')
const named = (kind: string) => objects.flatMap(({ object }) => (object.kind === kind ? [object] : []))

/** What the compiler says of objects as literals of the official types: there it refuses unknown fields, at every depth. */
function strictProblems(given: readonly object[]): string[] {
  const folder = join(DEPLOY, '../node_modules/.cache', `referrer-manifests-${process.pid}`)
  const lines = given.map((object, at) => {
    const { apiVersion, kind } = object as { apiVersion: string; kind: string }
    const path = MODELS[apiVersion]?.[0]
    return `export const o${at}: import('kubernetes-models/${path}').I${kind} = ${JSON.stringify(object)}`
  })
  mkdirSync(folder, { recursive: true })
  try {
    const file = join(folder, 'objects.ts')
    writeFileSync(file, lines.join('\n'))
    const options = ['--noEmit', '--strict', '--ignoreConfig', '--skipLibCheck', '--module', 'nodenext']
    execFileSync(
      process.execPath,
      [join(DEPLOY, '../node_modules/typescript/bin/tsc'), ...options, '--types', '', file],
      {
        cwd: dirname(folder),
      },
    )
    return []
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout)
      .trim()
      .split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the objects for Kubernetes', () => {
  test.each(official.map(({ file, object }) => [`${object.kind} ${object.metadata.name}`, file, object]))(
    '%s of %s keeps its official schema',
    (_name, _file, object) => {
      const Kind = MODELS[object.apiVersion]?.[1][object.kind] as Model
      expect(() => new Kind(object as never).validate()).not.toThrow()
    },
  )

  test('have no field that their schemas do not know', () => {
    const misspelt = { ...official[0]?.object, metadata: { name: 'x', lables: {} } }
    expect(strictProblems([misspelt]).join()).toContain('lables')
    expect(strictProblems(official.map(({ object }) => object))).toEqual([])
  })

  test('are named once', () => {
    const names = objects.map(({ object }) => `${object.kind}/${object.metadata.name}`)
    expect(names).toEqual([...new Set(names)])
  })
})

describe('the pods', () => {
  const pods = podSpecs().map((each) => [each.name, each] as const)

  test('are those of the three programs and the migration', () => {
    expect(pods.map(([name]) => name).sort()).toEqual([
      'referrer-api',
      'referrer-facilitator',
      'referrer-migrate',
      'referrer-workers',
    ])
  })

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/, "Restricted" and what it inherits from "Baseline".
  test.each(pods)('of %s keep the restricted Pod Security Standard', (_name, { pod }) => {
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers', 'ephemeralContainers']) {
      expect(pod[field]).toBeUndefined()
    }
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0)
    const kinds = pod.volumes.flatMap(({ name, ...kind }) => Object.keys(kind))
    const allowed = [
      'configMap',
      'csi',
      'downwardAPI',
      'emptyDir',
      'ephemeral',
      'persistentVolumeClaim',
      'projected',
    ]
    for (const kind of kinds) expect([...allowed, 'secret']).toContain(kind)
    for (const { securityContext, ports = [] } of pod.containers) {
      expect(securityContext.allowPrivilegeEscalation).toBe(false)
      expect(securityContext.privileged).toBeUndefined()
      expect(securityContext.capabilities).toEqual({ drop: ['ALL'] })
      for (const field of ['procMount', 'seLinuxOptions', 'runAsUser', 'runAsNonRoot', 'seccompProfile']) {
        expect(securityContext[field]).toBeUndefined()
      }
      for (const port of ports) expect(port).not.toHaveProperty('hostPort')
    }
  })

  test.each(pods)('of %s write nothing, get no token, and have limits', (_name, { pod }) => {
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(named('ServiceAccount').map(({ metadata }) => metadata.name)).toContain(pod.serviceAccountName)
    for (const { securityContext, resources } of pod.containers) {
      expect(securityContext.readOnlyRootFilesystem).toBe(true)
      expect(Object.keys(resources.requests)).toEqual(['cpu', 'memory'])
      expect(resources.limits).toHaveProperty('memory')
    }
  })

  test.each(pods)('of %s are asked on a port that they have, at a path that answers', (name, { pod }) => {
    const [container] = pod.containers
    const ports = new Map(container?.ports?.map(({ name, containerPort }) => [name, containerPort]))
    const probes = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe]
    if (name === 'referrer-migrate') return expect(probes).toEqual([undefined, undefined, undefined])
    expect(probes.map((probe) => probe?.httpGet.path)).toEqual(['/healthz', '/readyz', '/healthz'])
    for (const probe of probes) expect(String(ports.get(probe?.httpGet.port ?? ''))).toBe(common.METRICS_PORT)
    expect(ports.get('http')).toBe(8080)
  })

  const common = readEnvFile('kustomize/base/common.env')

  test.each(pods)('of %s find their settings and secrets', (_name, { pod }) => {
    const { configMapGenerator } = readYaml<Kustomization>('kustomize/base/kustomization.yaml')
    const { secretGenerator = [] } = readYaml<Kustomization>('kustomize/overlays/example/kustomization.yaml')
    const [secrets] = pod.volumes
    const generator = secretGenerator.find(({ name }) => name === secrets?.secret.secretName)
    const keys = generator?.files.map((file) => file.split('=')[0]?.replace(/^.*\//, ''))
    for (const { env, envFrom, volumeMounts } of pod.containers) {
      for (const { configMapRef } of envFrom) {
        expect(configMapGenerator?.map(({ name }) => name)).toContain(configMapRef.name)
      }
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/run/secrets'])
      for (const { value } of env) expect(keys).toContain(value.replace('/run/secrets/', ''))
      expect(env).toHaveLength(keys?.length ?? 0)
    }
  })

  test('are found by services, budgets, autoscaler and policies', () => {
    const components = new Set(pods.map(([, { labels }]) => labels['app.kubernetes.io/component']))
    const selectors = JSON.stringify(
      objects
        .filter(({ object }) => !['Deployment', 'Job'].includes(object.kind))
        .map(({ object }) => object.spec),
    )
    const asked = [...selectors.matchAll(/"app\.kubernetes\.io\/component":"(\w+)"/g)].map(([, name]) => name)
    for (const component of asked) expect(components).toContain(component)
    for (const component of ['api', 'workers', 'facilitator']) expect(asked).toContain(component)
    const [scaler] = named('HorizontalPodAutoscaler')
    expect(scaler?.spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'referrer-api' },
      minReplicas: 2,
    })
    expect(named('PodDisruptionBudget')).toHaveLength(3)
  })

  test('may reach, and be reached by, nothing that no policy names', () => {
    expect(named('NetworkPolicy')[0]).toMatchObject({
      metadata: { name: 'deny-all' },
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    })
  })
})

describe('the ingress', () => {
  interface Path {
    path: string
    backend: { service: { name: string; port: { name: string } } }
  }
  const rules = named('Ingress').flatMap(
    ({ spec }) => (spec as { rules: { http: { paths: Path[] } }[] }).rules,
  )

  test('sends what is for operators to a service without pods, and the rest to the programs', () => {
    const hidden = ['/metrics', '/healthz', '/readyz'].map((path) => [path, 'referrer-nowhere'])
    expect(
      rules.map(({ http }) => http.paths.map(({ path, backend }) => [path, backend.service.name])),
    ).toEqual([
      [...hidden, ['/', 'referrer-api']],
      [...hidden, ['/', 'referrer-facilitator']],
    ])
    const nowhere = named('Service').find(({ metadata }) => metadata.name === 'referrer-nowhere')
    expect(nowhere?.spec).not.toHaveProperty('selector')
  })

  test('names services and ports that are there', () => {
    const ports = named('Service').map(({ metadata, spec }) => [
      metadata.name,
      (spec as { ports: { name: string }[] }).ports.map(({ name }) => name),
    ])
    for (const { backend } of rules.flatMap(({ http }) => http.paths)) {
      expect(Object.fromEntries(ports)[backend.service.name]).toContain(backend.service.port.name)
    }
  })
})

interface Kustomization {
  resources?: string[]
  components?: string[]
  configMapGenerator?: { name: string; envs: string[] }[]
  secretGenerator?: { name: string; files: string[] }[]
  patches?: { path: string; target: { kind: string; name: string } }[]
  images?: { name: string; newTag: string }[]
}

describe('the kustomizations', () => {
  test.each(list('kustomize/**/kustomization.yaml'))('%s lists exactly the files beside it', (file) => {
    const { resources = [], components = [], ...rest } = readYaml<Kustomization>(file)
    const envs = rest.configMapGenerator?.flatMap((generator) => generator.envs) ?? []
    const patches = rest.patches?.map(({ path }) => path) ?? []
    const isFolder = (path: string) => path.startsWith('..')
    const folder = dirname(file)
    for (const other of [...resources, ...components].filter(isFolder)) {
      expect(list('kustomize/**/kustomization.yaml')).toContain(join(folder, other, 'kustomization.yaml'))
    }
    const named = [...resources.filter((path) => !isFolder(path)), ...envs, ...patches, 'kustomization.yaml']
    expect(named.sort()).toEqual(list(join(folder, '*.*')).map((path) => path.slice(folder.length + 1)))
  })

  test('give the image a version, and patch what is there', () => {
    const { images, patches } = readYaml<Kustomization>('kustomize/overlays/example/kustomization.yaml')
    const { version } = JSON.parse(read('../package.json'))
    expect(images?.map(({ name, newTag }) => [name, newTag])).toEqual([['referrer', version]])
    for (const { pod } of podSpecs()) expect(pod.containers.map(({ image }) => image)).toEqual(['referrer'])
    for (const { target } of patches ?? []) {
      expect(named(target.kind).map(({ metadata }) => metadata.name)).toContain(target.name)
    }
  })
})
