// Each example as its users run it: its own folder, installed by npm, with the real packages. The model is scripted, everything else is real.
// This needs the registry of npm, or its cache.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE_MS, startTestSandbox, type TestSandbox, until } from '../sandbox/test/sandbox.ts'
import { npm } from '../scripts/npm.mjs'
import { INTENT, type ScriptedModel, startScriptedModel } from './scripted-model.ts'

const run = promisify(execFile)
/** Of the daylight. */
const PRICE = 10_000
const FRAMEWORKS = ['vercel-ai-sdk', 'langchain', 'openai-agents', 'mastra']

let sandbox: TestSandbox
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'referrer-integrations-'))
  cpSync(join(import.meta.dirname, 'task.js'), join(folder, 'task.js'))
  sandbox = await startTestSandbox()
  // Until the market has asked the shop for its price, and finds it by what the model will ask for.
  await until(async () => {
    const intent = encodeURIComponent(INTENT)
    const answer = await fetch(`${sandbox.state.baseUrl}/v1/discover?intent=${intent}&max_products=1`)
    // A client may search five times a second: the others are refused.
    return answer.ok && (await answer.json()).products[0]?.price_usdc === PRICE
  }, sandbox)
}, PATIENCE_MS)
afterAll(async () => {
  await sandbox?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** The purchases of the wallet that the signer pays with. */
async function purchases() {
  const { rpcUrl, contracts } = sandbox.state
  const logs = await createPublicClient({ transport: http(rpcUrl), cacheTime: 0 }).getContractEvents({
    address: contracts.CommissionEscrow,
    abi: commissionEscrowAbi,
    eventName: 'EscrowDeposited',
    args: {},
    fromBlock: 0n,
  })
  return logs.map(({ args, transactionHash }) => ({ ...args, transactionHash }))
}

describe.each(FRAMEWORKS)('an agent on %s', (name) => {
  let model: ScriptedModel
  let said: string

  beforeAll(async () => {
    const project = join(folder, name)
    cpSync(join(import.meta.dirname, name), project, { recursive: true })
    // Peers are named in package.json: npm would look for newer ones.
    const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-package-lock']
    await npm(process.execPath, `Installing ${name}`, project, ['install', ...options])
    model = await startScriptedModel()
    const env = {
      ...process.env,
      REFERRER_MCP: join(sandbox.directory, 'referrer-mcp.json'),
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'none',
    }
    const { stdout } = await run(process.execPath, ['buy.js'], { cwd: project, env, timeout: PATIENCE_MS })
    said = stdout
  }, 3 * PATIENCE_MS)
  afterAll(() => model?.close())

  it('sees the tools of both servers', () => {
    const names = model.asked[0]?.tools?.map((tool) => tool.function.name) ?? []
    for (const tool of ['discover_products', 'get_review', 'pay_for_product', 'publish_escrow_review']) {
      expect(names.filter((one) => one.endsWith(tool))).toHaveLength(1)
    }
  })

  it('finds, pays through the link of a review, and gets what it paid for', async () => {
    expect(model.asked, said).toHaveLength(3)
    expect(said).toMatch(/sunset/)
    const { address } = sandbox.account('walletBuyer')
    const bought = (await purchases()).filter(({ transactionHash }) => said.includes(transactionHash))
    expect(bought).toEqual([
      expect.objectContaining({ payer: address, price: BigInt(PRICE), reviewId: expect.any(BigInt) }),
    ])
  })

  it('names exact versions', () => {
    const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, name, 'package.json'), 'utf8'))
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  })
})
