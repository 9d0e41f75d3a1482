// The entries of the MCP registry: what its schema of 2025-12-11 asks of them, and what its validator asks besides (names, versions, URLs
// with variables, the package's `mcpName`). The rules are restated here, so that no copy of the schema has to be kept; before a release
// `mcp-publisher validate` has the last word.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const root = join(import.meta.dirname, '..')
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** One version; "latest" and ranges, such as ^1.2.3, 1.x and "1 - 2", are refused. */
const version = z.string().regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/)
const variable = z.strictObject({
  description: z.string().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  value: z.string().optional(),
  choices: z.array(z.string()).optional(),
})

const namesIn = (url: string) => [...url.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
/** The validator puts an example in the place of each variable; what comes out must be a public address with TLS. */
function isPublicUrl(template: string): boolean {
  const url = template.replaceAll(/\{[^}]+\}/g, 'placeholder')
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' && !/(?:^|\.)localhost$|^127\.0\.0\.1$/.test(hostname)
}

const remote = z
  .strictObject({
    type: z.enum(['streamable-http', 'sse']),
    url: z
      .string()
      .regex(/^https?:\/\/\S+$/)
      .refine(isPublicUrl),
    variables: z.record(z.string(), variable).optional(),
  })
  .refine(({ url, variables = {} }) => namesIn(url).sort().join() === Object.keys(variables).sort().join(), {
    message: 'every variable of the URL is defined, and no other',
  })

const registered = z.strictObject({
  registryType: z.literal('npm'),
  identifier: z.string().regex(/^(?:@[a-z0-9-]+\/)?[a-z0-9-]+$/),
  version,
  runtimeHint: z.literal('npx'),
  transport: z.strictObject({ type: z.literal('stdio') }),
  environmentVariables: z.array(variable.extend({ name: z.string().regex(/^[A-Z][A-Z0-9_]*$/) })),
})

const Entry = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]\/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]$/),
  title: z.string().trim().min(1).max(100),
  description: z.string().min(1).max(100),
  repository: z.strictObject({
    url: z.string().regex(/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/),
    source: z.literal('github'),
    subfolder: z
      .string()
      .regex(/^[\w-]+(?:\/[\w-]+)*$/)
      .optional(),
  }),
  version,
  remotes: z.array(remote).optional(),
  packages: z.array(registered).optional(),
})

const FILES = ['server.json', 'packages/signer/server.json']

describe.each(FILES)('%s', (path) => {
  const entry = Entry.parse(json(path))

  it('is of the namespace that our account at GitHub proves, and tells where the code is', () => {
    const { repository } = json('package.json')
    const { url, subfolder = '.' } = entry.repository
    expect(JSON.stringify(repository)).toContain(url.replace('https://', ''))
    expect(entry.name.split('/')[0]).toBe(`io.github.${new URL(url).pathname.split('/')[1]}`)
    expect(existsSync(join(root, subfolder, 'package.json'))).toBe(true)
  })

  it('can be reached or run', () => {
    expect([...(entry.remotes ?? []), ...(entry.packages ?? [])]).toHaveLength(1)
  })

  it('names a package that names it in turn, in the same version', () => {
    for (const { identifier, version: published } of entry.packages ?? []) {
      const { name, version: own, mcpName } = json(`${entry.repository.subfolder}/package.json`)
      expect([identifier, published, entry.name]).toEqual([name, own, mcpName])
    }
  })

  it('names each variable once', () => {
    for (const { environmentVariables } of entry.packages ?? []) {
      const names = environmentVariables.map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
    }
  })
})

it('the servers have different names', () => {
  expect(new Set(FILES.map((path) => json(path).name)).size).toBe(FILES.length)
})

describe('an entry is refused', () => {
  const market = json('server.json')
  const signer = json('packages/signer/server.json')
  const [ours] = market.remotes
  const [own] = signer.packages
  const reached = (more: object) => ({ ...market, remotes: [{ ...ours, ...more }] })
  const run = (more: object) => ({ ...signer, packages: [{ ...own, ...more }] })

  it.each([
    ['with a URL that is a variable as a whole', reached({ url: '{base_url}/mcp' })],
    ['with a variable that nobody defines', reached({ url: 'https://{name}/mcp' })],
    ['with a variable that the URL does not have', reached({ url: 'https://market.example/mcp' })],
    ['without TLS', reached({ url: 'http://{host}/mcp' })],
    ['on this machine', reached({ url: 'https://localhost/mcp', variables: {} })],
    ['of another transport', reached({ type: 'http' })],
    ['with the latest version', { ...market, version: 'latest' }],
    ['with a range', { ...market, version: '^0.1.0' }],
    ['with a wildcard', run({ version: '0.x' })],
    ['with a URL for stdio', run({ transport: { type: 'stdio', url: 'https://market.example' } })],
    ['with a space in the package', run({ identifier: '@referrer/ signer' })],
    ['with a default that is no text', run({ environmentVariables: [{ name: 'A', default: 1 }] })],
    ['with a format that there is not', run({ environmentVariables: [{ name: 'A', format: 'url' }] })],
    ['with two slashes in its name', { ...market, name: 'io.github.referrer/market/1' }],
    ['with a dot at the end of its name', { ...market, name: 'io.github.referrer/market.' }],
    ['with a long description', { ...market, description: 'x'.repeat(101) }],
    ['with a field that there is not', { ...market, homepage: 'https://market.example' }],
  ])('%s', (_, entry) => {
    expect(Entry.safeParse(market).success && Entry.safeParse(signer).success).toBe(true)
    expect(Entry.safeParse(entry).success).toBe(false)
  })
})
