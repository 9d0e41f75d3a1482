// The code that merchants copy is compiled against the library, and its endpoint is made.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { frameworksOf, projectFile, type ShopValues } from './snippets.ts'

const ROOT = join(import.meta.dirname, '../../../../../..')
const FOLDER = join(ROOT, '.vitest/console-snippets')
const HOSTILE = `"; process.exit(1) // \u2028 \${1} \`</script>`

/** What a merchant who writes plain JavaScript need not say. */
const ENVIRONMENT =
  'declare namespace NodeJS { interface ProcessEnv { MERCHANT_SIGNING_KEY: import("viem").Hex } }\n'

const VALUES: ShopValues = {
  chainId: 31_337,
  marketUrl: 'http://127.0.0.1:8080',
  addressRegistry: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  facilitatorUrl: 'http://127.0.0.1:8081',
  merchantId: 5,
  productId: `0x${'a1'.repeat(32)}`,
  name: HOSTILE,
  price: '0.05',
}
const frameworks = frameworksOf(VALUES)
const pathOf = (framework: string, file: string) => join(FOLDER, framework, file)

beforeAll(async () => {
  await rm(FOLDER, { recursive: true, force: true })
  for (const { name, files } of frameworks) {
    for (const file of files) {
      const path = pathOf(name, file.name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, file.text)
    }
  }
})

describe('the code of an endpoint', () => {
  it('is there for every adapter of the library', () => {
    const used = frameworks.flatMap(({ files }) =>
      files.flatMap(({ text }) =>
        [...text.matchAll(/'@referrer\/merchant\/(\w+)'/g)].map(([, name]) => name),
      ),
    )
    expect([...new Set(used)].sort()).toEqual(['express', 'fastify', 'hono', 'next', 'node', 'x402'])
  })

  it('compiles', async () => {
    const tsconfig = {
      extends: '../../tsconfig.json',
      compilerOptions: { allowJs: true, checkJs: true },
      include: ['.'],
    }
    await writeFile(join(FOLDER, 'tsconfig.json'), JSON.stringify(tsconfig))
    await writeFile(join(FOLDER, 'env.d.ts'), ENVIRONMENT)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', FOLDER], {
      cwd: FOLDER,
    }).catch((failure: { stdout: string }) => failure)
    expect(stdout).toBe('')
  }, 120_000)

  it('makes an endpoint with the values of the shop, whatever the product is called', async () => {
    const { endpoint } = await import(pathToFileURL(pathOf('node', 'endpoint.js')).href)
    expect(endpoint.fetch).toBeInstanceOf(Function)
  })

  it('comes with the file that the commands read', () => {
    const file = JSON.parse(projectFile(VALUES, 'jokes', 'http://127.0.0.1:3000/buy').text)
    expect(file).toMatchObject({ network: 'sandbox', merchantId: 5 })
    expect(file.products.jokes).toEqual({
      id: VALUES.productId,
      name: HOSTILE,
      endpoint: 'http://127.0.0.1:3000/buy',
    })
  })
})

describe('the node in the code', () => {
  const nodeIn = (values: Partial<ShopValues>) =>
    JSON.parse(projectFile({ ...VALUES, ...values }, 'joke', 'https://shop.example/buy').text).rpc

  it('is that of a public chain, or of a sandbox with the usual ports', () => {
    expect(nodeIn({})).toBe('http://127.0.0.1:8545')
    expect(nodeIn({ chainId: 84_532, marketUrl: 'https://market.example' })).toBe('https://sepolia.base.org')
  })

  it('is left to fill in where the market is elsewhere, with a word on what to put there', () => {
    const shifted = { marketUrl: 'http://127.0.0.1:9580' }
    expect(nodeIn(shifted)).toBe('https://node.example')
    const [framework] = frameworksOf({ ...VALUES, ...shifted })
    expect(framework?.files[0]?.text).toContain('put a node of chain 31337 here')
  })
})
