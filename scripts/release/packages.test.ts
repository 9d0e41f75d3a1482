// The libraries as they are published, installed and used as a shop would.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildLibraries, root } from './packages.ts'

const run = promisify(execFile)
const shop = mkdtempSync(join(tmpdir(), 'referrer-shop-'))
const modules = join(shop, 'node_modules')

beforeAll(() => {
  buildLibraries((name) => join(modules, '@referrer', name))
  // What the libraries depend on.
  for (const name of ['viem', 'hash-wasm', '@bitauth/libauth', 'secp256k1', 'node-gyp-build', '@x402/core']) {
    mkdirSync(join(modules, name, '..'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  mkdirSync(join(modules, '@types'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(modules, '@types/node'))
})
afterAll(() => rmSync(shop, { recursive: true, force: true }))

const PROGRAM = `
import { createPaymentMemory, createReferralEndpoint } from '@referrer/merchant'
import { nodeHandler } from '@referrer/merchant/node'
import { officialReferral } from '@referrer/merchant/x402'
import { Money, Recovery } from '@referrer/protocol'
import { splitRouterAbi } from '@referrer/protocol/abi'

const endpoint = createReferralEndpoint({
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:1',
  addressRegistry: '0x1cf1a78B12CFd45F03514845b3A6F2d91CE40869',
  facilitatorUrl: 'http://127.0.0.1:1',
  setupUrl: 'http://127.0.0.1:1/',
  merchantId: 5,
  payments: createPaymentMemory(),
  price: '0.10',
  serve: (_request, sale) => ({ paid: Money.format(sale.amount) }),
})
const { status } = await endpoint.fetch(new Request('http://shop.test/', { method: 'PUT' }))
const { implementation } = await Recovery.load()
console.log(status, implementation, splitRouterAbi.length > 0, typeof nodeHandler(endpoint), typeof officialReferral)
`

it('run in plain Node', async () => {
  const file = join(shop, 'shop.mjs')
  writeFileSync(file, PROGRAM)
  const { stdout } = await run(process.execPath, [file], { cwd: shop })
  expect(stdout).toMatch(/^405 (?:native|wasm) true function function$/m)
})

it('are typed for a shop that is written in TypeScript', async () => {
  const wrong =
    '// @ts-expect-error: a price is no number\ncreateReferralEndpoint({ ...({} as ReferralConfig), price: 0.1 })'
  const imported = "import type { ReferralConfig } from '@referrer/merchant'"
  writeFileSync(join(shop, 'shop.ts'), [imported, PROGRAM, wrong].join('\n'))
  writeFileSync(join(shop, 'package.json'), '{"type":"module"}')
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--types',
    'node',
  ]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, ...options, 'shop.ts'], { cwd: shop }).catch(
    (failure: { stdout: string }) => failure,
  )
  expect(stdout).toBe('')
})

it('have a command that checks an endpoint', async () => {
  const { stdout } = await run(process.execPath, [join(modules, '@referrer/merchant/cli.js'), '--help'])
  expect(stdout).toContain('check')
})
