// The commands of a shop's owner, on a whole market.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Registration } from '@referrer/protocol'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { createPublicClient, createWalletClient, defineChain, http, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE_MS, startTestSandbox, type TestSandbox } from '../../../sandbox/test/sandbox.ts'
import { runCommands } from '../src/commands/run.ts'

let sandbox: TestSandbox
let folder: string
beforeAll(async () => {
  sandbox = await startTestSandbox()
  folder = mkdtempSync(join(tmpdir(), 'referrer-commands-'))
}, PATIENCE_MS)
afterAll(async () => {
  await sandbox?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** Somebody in a folder of their own. */
function somebody() {
  const directory = mkdtempSync(join(folder, 'shop-'))
  const key = generatePrivateKey()
  return {
    key,
    address: privateKeyToAddress(key),
    project: () => JSON.parse(readFileSync(join(directory, 'referrer.json'), 'utf8')),
    write: (content: string) => writeFileSync(join(directory, 'referrer.json'), content),
    place: () => ['--market', sandbox.state.baseUrl, '--rpc', sandbox.state.rpcUrl],
    async run(...args: string[]) {
      const said: string[] = []
      const complained: string[] = []
      const code = await runCommands(
        args,
        { directory, env: { MERCHANT_PRIVATE_KEY: key }, isInteractive: false },
        { out: (line) => said.push(line), err: (line) => complained.push(line) },
      )
      return {
        code,
        out: said.join('\n'),
        err: complained.filter((line) => !line.startsWith('…')).join('\n'),
      }
    },
  }
}

const ETHER = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const client = () => createPublicClient({ transport: http(sandbox.state.rpcUrl), cacheTime: 0 })
const identitiesOf = (owner: `0x${string}`) =>
  client().readContract({
    address: sandbox.state.contracts.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'balanceOf',
    args: [owner],
  })

function walletOf(key: `0x${string}`) {
  const { rpcUrl, chainId } = sandbox.state
  const chain = defineChain({
    id: chainId,
    name: 'sandbox',
    nativeCurrency: ETHER,
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  return createWalletClient({ account: privateKeyToAccount(key), chain, transport: http() })
}

describe('a shop', () => {
  let owner: ReturnType<typeof somebody>
  beforeAll(() => {
    owner = somebody()
  })

  it('is opened once, however often that is said, and says what was there', async () => {
    const first = await owner.run('open', ...owner.place(), '--description', 'Jokes', '--json')
    expect([first.code, first.err]).toEqual([0, ''])
    const { merchantId, steps } = JSON.parse(first.out)
    expect(steps.filter(({ changed }: { changed: boolean }) => !changed)).toEqual([])
    const second = await owner.run('open', '--json')
    expect([second.code, second.err]).toEqual([0, ''])
    expect(JSON.parse(second.out)).toMatchObject({ merchantId })
    expect(JSON.parse(second.out).steps.filter(({ changed }: { changed: boolean }) => changed)).toEqual([])
    expect(await identitiesOf(owner.address)).toBe(1n)
    const shown = await (await fetch(`${sandbox.state.baseUrl}/v1/merchant/${merchantId}`)).json()
    expect(shown).toMatchObject({ status: 'active', description: 'Jokes', owner_address: owner.address })
  })

  it('pays another wallet and lets a hot key settle, when that is said', async () => {
    const [payout, signer] = [somebody().address, somebody().address]
    const { out } = await owner.run('open', '--payout', payout, '--signer', signer)
    expect(out).toContain(`sales are paid to ${payout}, before to ${owner.address}`)
    expect(out).toContain(`+ settlement key  ${signer} may ask for settlements`)
    expect((await owner.run('open', '--payout', payout, '--signer', signer)).out).not.toMatch(/^\+/m)
    expect((await owner.run('open', '--signer', owner.address)).err).toContain("must not be the owner's key")
  })

  it('says when somebody else settles than before', async () => {
    const { facilitatorUrl } = sandbox.state
    const { out } = await owner.run('open', '--facilitator', 'http://127.0.0.1:9')
    expect(out).toContain(`+ facilitator     http://127.0.0.1:9 settles, before ${facilitatorUrl}`)
    expect((await owner.run('open')).out).toContain(`${facilitatorUrl} settles, before http://127.0.0.1:9`)
    expect((await owner.run('open')).out).not.toMatch(/^. facilitator/m)
  })

  it('lists a product under the same id for the same name, and changes its terms, saying what they were', async () => {
    expect((await owner.run('list')).err).toContain('no product is listed from this folder')
    expect((await owner.run('list', '--name', 'Dry Jokes')).err).toContain(
      'say --price <USDC> and --commission <percent>',
    )
    await owner.run('list', '--name', 'Dry Jokes', '--price', '0.20', '--commission', '12.5')
    const changed = await owner.run('list', '--name', 'dry jokes', '--commission', '20')
    expect(changed.out).toContain(
      '0.2 USDC, commission 20 % (2000 bps); before: 0.2 USDC, commission 12.5 % (1250 bps)',
    )
    expect((await owner.run('list', '--commission', '20')).out).toMatch(/^= product/)
    expect(Object.keys(owner.project().products)).toEqual(['dry-jokes'])
    expect((await owner.run('list', '--type', 'one-off')).err).toContain('that cannot be changed')
    expect((await owner.run('list', '--price', '0.001')).err).toContain('below the least amount 0.01')
  })

  it('does not take a product for another one whose name is spelled alike', async () => {
    const terms = ['--price', '0.20', '--commission', '10']
    const { run, place, project } = somebody()
    await run('open', ...place())
    await run('list', '--name', 'C++ docs', ...terms)
    expect((await run('list', '--name', 'C# docs', '--price', '9', '--commission', '1')).err).toBe(
      '"C# docs" and "C++ docs" would be one product, c-docs: choose another name, or say --name c-docs to change it',
    )
    expect((await run('list', '--name', 'c-docs', '--commission', '11')).out).toContain('commission 11 %')
    await run('list', '--name', 'Constructor', ...terms)
    expect(project().products.constructor).toMatchObject({ name: 'Constructor' })
  })

  it('asks nobody else where the market redirects: the requests are signed', async () => {
    const asked: string[] = []
    const thief = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(thief, 'listening')
    const location = urlOf(thief)
    const market = createServer(async (request, response) => {
      if (request.url?.startsWith('/v1/')) response.writeHead(307, { location }).end()
      else response.end(await (await fetch(`${sandbox.state.baseUrl}${request.url}`)).text())
    }).listen(0, '127.0.0.1')
    await once(market, 'listening')
    try {
      const { run, place } = somebody()
      expect(await run('open', ...place(), '--market', urlOf(market))).toMatchObject({
        code: 1,
        err: expect.stringMatching(/redirect.*POST \/v1\/merchant\/register/),
      })
      expect(asked).toEqual([])
    } finally {
      for (const server of [thief, market]) await end(server)
    }
  })

  it('says that nothing answers before anybody describes or reviews it', async () => {
    expect((await owner.run('demo-sale')).err).toContain('run referrer-merchant describe first')
    const { code, err } = await owner.run('describe', '--endpoint', 'http://127.0.0.1:9/buy')
    expect([code, err]).toEqual([1, expect.stringContaining('start the endpoint, then run this again')])
    expect(owner.project().products['dry-jokes'].endpoint).toBeUndefined()
  })

  it('has a registration file, whose URI is set when that is said', async () => {
    const owner = somebody()
    await owner.run('open', ...owner.place())
    const { merchantId } = owner.project()
    expect((await owner.run('registration')).err).toContain('--name <name> --description <text>')
    const about = ['--name', 'Weather', '--description', 'Of tomorrow', '--website', 'https://weather.test']
    const uriOf = () =>
      client().readContract({
        address: sandbox.state.contracts.IdentityRegistry,
        abi: identityRegistryAbi,
        functionName: 'tokenURI',
        args: [BigInt(merchantId)],
      })
    const written = await owner.run('registration', ...about, '--json')
    expect(written.code).toBe(0)
    expect(await uriOf()).toBe('')
    const { file, uri } = JSON.parse(written.out)
    expect(file).toMatchObject({
      type: Registration.TYPE,
      name: 'Weather',
      services: [{ name: 'web', endpoint: 'https://weather.test' }],
      x402Support: true,
      registrations: [{ agentId: merchantId }],
    })
    // What was said before is taken from the file.
    const set = JSON.parse((await owner.run('registration', '--set', '--json')).out)
    expect(set.uri).toBe(uri)
    expect(await uriOf()).toBe(uri)
    expect(JSON.parse(Registration.fromDataUri(uri) ?? '')).toEqual(file)
    const again = JSON.parse((await owner.run('registration', '--set', '--json')).out)
    expect(again.transaction).toBeUndefined()
    expect((await owner.run('registration', '--url', 'https://weather.test/a.json', '--set')).code).toBe(0)
    expect(await uriOf()).toBe('https://weather.test/a.json')
    expect((await owner.run('registration', '--description', 'd'.repeat(5_000))).err).toContain('description')
    expect((await owner.run('registration', '--url', 'http://weather.test/a.json', '--set')).err).toBe(
      '--url must be an https or ipfs address, not "http://weather.test/a.json"',
    )
    expect(await uriOf()).toBe('https://weather.test/a.json')
  })

  it('closes a product or everything when that is confirmed, and opens again', async () => {
    expect(await owner.run('close', '--product', 'dry-jokes')).toMatchObject({
      code: 1,
      err: 'say --yes to close "Dry Jokes"',
    })
    expect(await owner.run('close')).toMatchObject({
      code: 2,
      err: expect.stringContaining('say --product <name> or --shop'),
    })
    expect((await owner.run('close', '--product', 'dry-jokes', '--yes')).out).toMatch(/^\+ product +closed/)
    expect((await owner.run('close', '--product', 'dry-jokes', '--yes')).out).toMatch(/^= product/)
    expect((await owner.run('list')).out).toMatch(/^\+ product +opened .* again$/m)
    expect((await owner.run('close', '--shop', '--yes')).out).toMatch(/^\+ active +closed/)
    expect((await owner.run('close', '--shop', '--yes')).out).toMatch(/^= active/)
    expect((await owner.run('open')).out).toMatch(/^\+ active +opened/m)
  })

  it('is refused to whoever does not own it, and cannot move to another network or registry', async () => {
    const { merchantId } = owner.project()
    const thief = somebody()
    const { err } = await thief.run('open', ...thief.place(), '--merchant-id', String(merchantId))
    expect(err).toContain(
      `identity ${merchantId} belongs to ${owner.address}, and the key is that of ${thief.address}`,
    )
    expect((await owner.run('open', '--network', 'base')).err).toContain(
      'use another folder for another network',
    )
    const other = somebody()
    other.write(JSON.stringify({ addressRegistry: thief.address }))
    expect((await other.run('open', ...other.place())).err).toContain('do not use it before you know why')
  })
})

describe('an identity', () => {
  it.each(['before it is sent', 'after it is sent'])(
    'is minted once where the connection ends %s',
    { timeout: PATIENCE_MS },
    async (when) => {
      const owner = somebody()
      const node = await startDyingNode(sandbox.state.rpcUrl, { forwards: when === 'after it is sent' })
      try {
        const { code } = await owner.run('open', ...owner.place(), '--rpc', node.url)
        expect([code, node.isDead()]).toEqual([1, true])
      } finally {
        await node.close()
      }
      expect(owner.project()).toMatchObject({ pendingIdentity: { transaction: expect.any(String) } })
      const again = await owner.run('open', ...owner.place())
      expect([again.code, again.err]).toEqual([0, ''])
      expect(await identitiesOf(owner.address)).toBe(1n)
      expect(owner.project()).not.toHaveProperty('pendingIdentity')
    },
  )

  it('is minted where the transaction that was begun can never be included', {
    timeout: PATIENCE_MS,
  }, async () => {
    const owner = somebody()
    const node = await startDyingNode(sandbox.state.rpcUrl, { forwards: false })
    await owner.run('open', ...owner.place(), '--rpc', node.url).finally(() => node.close())
    expect(owner.project()).toHaveProperty('pendingIdentity')
    const wallet = walletOf(owner.key)
    const hash = await wallet.sendTransaction({ to: owner.address, value: 1n })
    await client().waitForTransactionReceipt({ hash })
    const again = await owner.run('open', ...owner.place())
    expect([again.code, again.err]).toEqual([0, ''])
    expect(await identitiesOf(owner.address)).toBe(1n)
    expect(owner.project()).not.toHaveProperty('pendingIdentity')
  })

  it('is minted once where another run in the folder mints it meanwhile', {
    timeout: PATIENCE_MS,
  }, async () => {
    const owner = somebody()
    const first = Promise.withResolvers<{ code: number }>()
    // The second run has read the folder when it asks for its balance.
    const node = await startWaitingNode(sandbox.state.rpcUrl, 'eth_getBalance', async () => {
      first.resolve(owner.run('open', ...owner.place()))
      await first.promise
    })
    try {
      const second = await owner.run('open', ...owner.place(), '--rpc', node.url)
      expect([(await first.promise).code, second.code, second.err]).toEqual([0, 0, ''])
    } finally {
      await node.close()
    }
    expect(await identitiesOf(owner.address)).toBe(1n)
  })

  it('is minted anew where the chain has refused the transaction that was begun', {
    timeout: PATIENCE_MS,
  }, async () => {
    const owner = somebody()
    const node = await startDyingNode(sandbox.state.rpcUrl, { forwards: false })
    await owner.run('open', ...owner.place(), '--rpc', node.url).finally(() => node.close())
    const { pendingIdentity, ...data } = owner.project()
    const { IdentityRegistry } = sandbox.state.contracts
    const wallet = walletOf(owner.key)
    const request = {
      to: IdentityRegistry,
      data: '0xdeadbeef',
      gas: 100_000n,
      nonce: pendingIdentity.nonce,
    } as const
    const raw = await wallet.signTransaction(await wallet.prepareTransactionRequest(request))
    const transaction = keccak256(raw)
    // A local chain says that it was refused, and includes it.
    await client()
      .sendRawTransaction({ serializedTransaction: raw })
      .catch(() => {})
    expect(await client().waitForTransactionReceipt({ hash: transaction })).toMatchObject({
      status: 'reverted',
    })
    owner.write(JSON.stringify({ ...data, pendingIdentity: { ...pendingIdentity, raw, transaction } }))
    const again = await owner.run('open', ...owner.place())
    expect([again.code, again.err]).toEqual([0, ''])
    expect(await identitiesOf(owner.address)).toBe(1n)
  })
})

describe('a command', () => {
  it('says what it takes, and refuses what it does not', async () => {
    const { run } = somebody()
    expect(await run('--help')).toMatchObject({ code: 0, out: expect.stringContaining('demo-sale') })
    for (const command of ['open', 'list', 'describe', 'stats', 'close', 'demo-sale', 'check']) {
      const { code, out } = await run(command, '--help')
      expect([command, code, out]).toEqual([
        command,
        0,
        expect.stringContaining(`referrer-merchant ${command}`),
      ])
    }
    expect(await run()).toMatchObject({ code: 2 })
    expect(await run('sell')).toMatchObject({
      code: 2,
      err: 'there is no command "sell"\nTry: referrer-merchant --help',
    })
    expect(await run('open', '--colour')).toMatchObject({
      code: 2,
      err: expect.stringContaining('open --help'),
    })
    expect(await run('constructor')).toMatchObject({ code: 2 })
  })

  it('says in one line what is wrong with the folder or the place, and what to do', async () => {
    const { run, write, place } = somebody()
    expect((await run('list', ...place())).err).toBe(
      'this folder has no shop yet: run referrer-merchant open first',
    )
    expect((await run('open', '--market', 'http://127.0.0.1:9', '--rpc', sandbox.state.rpcUrl)).err).toMatch(
      /^no market answers/,
    )
    expect((await run('open', '--network', 'base-sepolia')).err).toBe(
      'say which market on base-sepolia: --market <URL>',
    )
    expect((await run('open', ...place(), '--network', 'base')).err).toContain(
      'serves chain 31337, and base is chain 8453',
    )
    expect((await run('open', '--network', 'mars')).err).toBe(
      '--network must be sandbox, sandbox-2, base-sepolia, base or the id of another chain, not "mars"',
    )
    expect((await run('open', '--network', '42161', '--market', 'http://127.0.0.1:9')).err).toBe(
      'say which node of chain 42161: --rpc <URL>',
    )
    expect((await run('open', ...place(), '--network', '42161')).err).toContain(
      'serves chain 31337, and 42161 is chain 42161',
    )
    for (const content of [
      '{',
      '[]',
      '{"network":"mars"}',
      '{"merchantId":-1}',
      '{"products":{"a":{"id":"0x1"}}}',
    ]) {
      write(content)
      const { code, err } = await run('open', ...place())
      expect([content, code, err]).toEqual([
        content,
        1,
        expect.stringMatching(/referrer\.json cannot be used: .*Correct it/),
      ])
      expect((await run('check')).code).toBe(1)
    }
  })
})

/** A node that does something before its first answer to a method. */
async function startWaitingNode(rpcUrl: string, method: string, work: () => Promise<void>) {
  let isDone = false
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (!isDone && body.includes(method)) {
      isDone = true
      await work()
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(await forward(rpcUrl, body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: urlOf(server), close: () => end(server) }
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function end(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

/** A node that ends all connections as soon as it is sent a transaction. */
async function startDyingNode(rpcUrl: string, { forwards }: { forwards: boolean }) {
  let isDead = false
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const isSending = body.includes('eth_sendRawTransaction')
    if (isSending && forwards && !isDead) await forward(rpcUrl, body)
    isDead ||= isSending
    if (isDead) request.socket.destroy()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(await forward(rpcUrl, body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: urlOf(server),
    isDead: () => isDead,
    close: () => end(server),
  }
}

const forward = async (rpcUrl: string, body: string) =>
  (await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
