// Keys are replaced while they are in use: nothing is lost, nothing is sent twice, and the old role is gone.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enqueueTransaction } from '@referrer/chain'
import { privateKeyOf, registerIdentity } from '@referrer/contracts/local'
import { commissionEscrowAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { readConfig, type Service, startService } from '@referrer/service'
import { type Address, keccak256, parseEther, stringToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, describe, expect, it } from 'vitest'
import { expectNothingOpen, nextPurchase } from '../../../../facilitator/test/crash/world.ts'
import { eventually } from '../../../../facilitator/test/eventually.ts'
import { startTestFacilitator } from '../../../../facilitator/test/harness.ts'
import { callerOf } from '../../../../service/test/http/caller.ts'
import { ATTESTATION_SEEDS, generic, startTestMarket } from '../../../../service/test/http/market.ts'
import { openRecorded } from '../../../../service/test/http/merchants.ts'
import { ENDPOINT, publish, register, sell } from '../../../../service/test/http/reviews.ts'
import { runCommand } from '../../referrer.ts'

const directory = mkdtempSync(join(tmpdir(), 'referrer-rotate-'))
afterAll(() => rmSync(directory, { recursive: true }))

type Env = Record<string, string>

async function rotate(args: string[], env: Env): Promise<{ code: number; output: string }> {
  let output = ''
  const print = (text: string) => {
    output += text
  }
  const code = await runCommand(['keys', 'rotate', ...args], { env, print }).catch((error: Error) => {
    output += error.message
    return 1
  })
  for (const secret of Object.values(env).filter((value) => /^0x[0-9a-f]{64}$/.test(value))) {
    expect(output).not.toContain(secret.slice(2))
  }
  return { code, output }
}

const roleId = (name: string) => keccak256(stringToBytes(name))

describe('a rotation of the service’s keys', async () => {
  const m = await startTestMarket()
  const services: Service[] = [m.service]
  afterAll(async () => {
    for (const service of services) await service.stop()
    await m.close()
  })
  const { oracle, admin, reviewer: owner } = m.market.accounts
  const env: Env = {
    DATABASE_URL: m.databaseUrl,
    PORT: '0',
    LOG_LEVEL: 'silent',
    EMBEDDER: 'off',
    PUBLIC_URL: m.service.url,
    ADMIN_PRIVATE_KEY: privateKeyOf(admin),
    ORACLE_PRIVATE_KEY: privateKeyOf(oracle),
    ATTESTATION_KEYS: JSON.stringify({ [m.chainId]: [ATTESTATION_SEEDS[0]] }),
    CHAINS: JSON.stringify([
      {
        chainId: m.chainId,
        rpcUrls: [m.chains[0]?.chain.rpcUrl],
        contracts: m.market.addresses,
        startBlock: 0,
        confirmations: 1,
        pollIntervalMs: 50,
      },
    ]),
  }
  /** Every process with other keys: the new one runs before the old one ends. */
  async function restart(change: Env): Promise<void> {
    Object.assign(env, change)
    const next = await startService(readConfig(env))
    env.PUBLIC_URL = next.url
    m.call = callerOf(next.url, Date.now)
    const last = services.pop()
    services.push(next)
    await last?.stop()
  }
  const hasRole = (account: Address) =>
    m.market.client.readContract({
      address: m.market.addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      functionName: 'hasRole',
      args: [roleId('ORACLE_ROLE'), account],
    })

  it('moves the oracle to a new account, step by step, with transactions of the old one in the outbox', async () => {
    const file = join(directory, 'oracle.key')
    const args = ['oracle', '--new-key', file, '--wait', '0']
    const dry = await rotate([...args, '--dry-run'], env)
    expect(dry).toMatchObject({ code: 2, output: expect.stringContaining('a new key would be made') })

    await m.market.client.setBalance({ address: oracle.address, value: 0n })
    const gifts: Address[] = []
    for (let count = 0; count < 3; count += 1) {
      const to = privateKeyToAddress(generatePrivateKey())
      gifts.push(to)
      const gift = { chainId: m.chainId, from: oracle.address, to, data: '0x', value: 1n, key: to } as const
      await enqueueTransaction(m.sql, gift)
    }

    const first = await rotate(args, { ...env, ADMIN_PRIVATE_KEY: '' })
    expect(first.code).toBe(2)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const key = readFileSync(file, 'utf8').trim()
    expect(first.output).not.toContain(key.slice(2))
    const fresh = privateKeyToAddress(key as `0x${string}`)
    expect(first.output).toMatch(
      /! the admin has to send grantRole to CommissionEscrow .*\n {4}to 0x\w+ data 0x/,
    )
    expect(await hasRole(fresh)).toBe(false)

    const granted = await rotate(args, env)
    expect(granted).toMatchObject({ code: 2, output: expect.stringContaining(`! ${fresh} has no gas`) })
    expect(await hasRole(fresh)).toBe(true)
    await m.market.client.setBalance({ address: fresh, value: parseEther('1') })
    expect((await rotate(args, env)).output).toContain('! restart every process with the new account')

    await restart({ ORACLE_PRIVATE_KEY: key, RETIRING_PRIVATE_KEYS: privateKeyOf(oracle) })
    await eventually(async () => {
      const waiting = await rotate(args, env)
      expect(waiting).toMatchObject({
        code: 2,
        output: expect.stringContaining('the old account has 3 transactions left'),
      })
    })
    expect(await hasRole(oracle.address)).toBe(true)

    await m.market.client.setBalance({ address: oracle.address, value: parseEther('1') })
    const done = await rotate(['oracle', '--new-key', file, '--wait', '60'], env)
    expect(done, done.output).toMatchObject({ code: 0, output: expect.stringContaining('\ndone: ') })
    expect([await hasRole(oracle.address), await hasRole(fresh)]).toEqual([false, true])
    for (const to of gifts) expect(await m.market.client.getBalance({ address: to })).toBe(1n)
    // Run once more, it changes nothing.
    expect((await rotate(args, env)).code).toBe(0)
    await restart({ RETIRING_PRIVATE_KEYS: '' })
  })

  it('moves ref links to a new key, and links that were handed out work until the old key is dropped', async () => {
    const merchantId = await openRecorded(m)
    const agentId = await registerIdentity(m.market, owner)
    const product = await sell(m, merchantId, 1, ENDPOINT)
    const content = generic(5, 'Rotated')
    const review_id = await publish(m.market, { owner, agentId, product, content })
    await m.indexed()
    const { body } = await register(m, { review_id, escrow_id: 0, content_json: content })
    const follow = async (link: string) =>
      (await fetch(`${env.PUBLIC_URL}${new URL(link).pathname}`, { headers: { accept: 'application/json' } }))
        .status

    const file = join(directory, 'attestation.seed')
    const args = ['attestation', '--new-key', file, '--wait', '0']
    const first = await rotate(args, env)
    expect(first).toMatchObject({
      code: 2,
      output: expect.stringContaining('run it again after the restarts'),
    })
    const seed = readFileSync(file, 'utf8').trim()
    expect(first.output).not.toContain(seed.slice(2))

    await restart({ ATTESTATION_KEYS: JSON.stringify({ [m.chainId]: [seed, ATTESTATION_SEEDS[0]] }) })
    const moved = await rotate(['attestation', '--new-key', file, '--wait', '60'], env)
    expect(moved.output).toContain('✓ all links that the market shows are signed with the new key')
    expect(moved.code).toBe(2)
    const shown = await (await fetch(`${env.PUBLIC_URL}/v1/review/${review_id}`)).json()
    expect(shown.ref_link).not.toBe(body.ref_link)
    expect([await follow(body.ref_link), await follow(shown.ref_link)]).toEqual([200, 200])

    await restart({ ATTESTATION_KEYS: JSON.stringify({ [m.chainId]: [seed] }) })
    const done = await rotate(args, env)
    expect(done, done.output).toMatchObject({ code: 0, output: expect.stringContaining('\ndone: ') })
    expect([await follow(body.ref_link), await follow(shown.ref_link)]).toEqual([400, 200])
  })

  it('says what it needs', async () => {
    expect(await rotate(['oracle'], env)).toMatchObject({
      code: 1,
      output: expect.stringContaining('--new-key'),
    })
    expect((await rotate(['treasury'], env)).output).toContain('name one of attestation, oracle')
    expect((await rotate(['oracle', '--to', '0x12'], env)).output).toContain('--to: expected an address')
  })
})

describe('a rotation of a relayer', () => {
  it('lets the old one finish the payment that it has sent, and the new one settle the next', async () => {
    const m = await startTestFacilitator({
      chainId: 31_491,
      buyers: 2,
      env: { LINGER_MS: '0', SHUTDOWN_TIMEOUT_MS: '100' },
    })
    try {
      const [old] = m.relayers
      const file = join(directory, 'relayer.key')
      const env = { ...m.env, ADMIN_PRIVATE_KEY: privateKeyOf(m.market.accounts.admin) }
      const args = ['relayer', '--new-key', file, '--wait', '0']
      await rotate(args, env)
      const key = readFileSync(file, 'utf8').trim() as `0x${string}`
      const fresh = privateKeyToAddress(key)
      await m.chain.client.setBalance({ address: fresh, value: parseEther('10') })

      await m.chain.client.setAutomine(false)
      const purchase = await nextPurchase(m)
      const settling = m.settle(purchase.body).catch(() => undefined)
      await eventually(async () => {
        expect(await m.chain.client.getTransactionCount({ address: old.address, blockTag: 'pending' })).toBe(
          1,
        )
      })
      const keys = { RELAYER_PRIVATE_KEYS: key, RETIRING_PRIVATE_KEYS: privateKeyOf(old) }
      const next = await m.startAnother(keys)
      await m.facilitator.stop()
      m.facilitator = next
      await settling
      Object.assign(env, keys)
      await eventually(async () => {
        const waiting = await rotate(args, env)
        expect(waiting.output).toContain('the old account has 1 transactions left')
        expect(waiting.code).toBe(2)
      })
      await m.chain.client.setAutomine(true)
      await m.chain.client.mine({ blocks: 2 })
      const done = await rotate(['relayer', '--new-key', file, '--wait', '60'], env)
      expect(done, done.output).toMatchObject({ code: 0 })
      expect((await m.call('GET', purchase.path)).body).toMatchObject({ status: 'settled' })
      expect(await m.chain.client.getTransactionCount({ address: old.address })).toBe(1)
      const roles = await Promise.all(
        [old.address, fresh].map((account) =>
          m.chain.client.readContract({
            address: m.market.addresses.SplitRouter,
            abi: splitRouterAbi,
            functionName: 'hasRole',
            args: [roleId('SETTLER_ROLE'), account],
          }),
        ),
      )
      expect(roles).toEqual([false, true])

      const { body } = await m.settle((await nextPurchase(m)).body)
      expect(body).toMatchObject({ success: true })
      const { from } = await m.chain.client.getTransaction({ hash: body.transaction })
      expect(from.toLowerCase()).toBe(fresh.toLowerCase())
      await expectNothingOpen(m)
    } finally {
      await m.close()
    }
  })
})
